// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"io"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestNameOf: the name alone, or as kubectl takes and prints it.
func TestNameOf(t *testing.T) {
	for arg, want := range map[string]string{
		"web": "web", "fla/web": "web", "application/web": "web", "Application/web": "web", "applications.apps.fairlead.dev/web": "web", "application.apps.fairlead.dev/web": "web",
		"pod/web": "", "deployment/web": "", "fla/": "", "fla/web/x": "", "applications.example.com/web": "",
	} {
		got, err := nameOf(arg)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", arg, got, err, want)
		}
	}
	for arg, want := range map[string]string{"web": "web", "deploy/web": "web", "deployment.apps/web": "web", "fla/web": "web", "pod/web": ""} {
		if got, err := deploymentName(arg); got != want || (err == nil) != (want != "") {
			t.Errorf("adopt %s: %q, %v, want %q", arg, got, err, want)
		}
	}
	if _, err := deploymentName("svc/web"); err == nil || err.Error() != `"svc/web" is not the name of a Deployment: write its name alone, such as web` {
		t.Errorf("a Service: %v", err)
	}
	if _, err := nameOf("pod/web"); err == nil || err.Error() != `"pod/web" is not the name of an Application: write its name alone, such as web` {
		t.Error(err)
	}
}

// TestCommandsHaveTheNamespace: a command in an advice works when the user copies it, and is short where it can be.
func TestCommandsHaveTheNamespace(t *testing.T) {
	config := *clientcmdapi.NewConfig()
	config.Contexts["here"], config.CurrentContext = &clientcmdapi.Context{Namespace: "shop", Cluster: "here"}, "here"
	config.Clusters["here"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	here := toolWith(config, "")
	for name, test := range map[string]struct {
		tool                  *tool
		namespace, text, want string
	}{
		"the kubeconfig's namespace": {here, "shop", "Look: kubectl fairlead tree web", "Look: kubectl fairlead tree web"},
		"another one":                {here, "blog", "Look: kubectl fairlead tree web", "Look: kubectl fairlead -n blog tree web"},
		"the one of -n":              {toolWith(config, "blog"), "blog", "Read: kubectl fairlead logs web -c web --previous", "Read: kubectl fairlead -n blog logs web -c web --previous"},
		"kubectl's own":              {here, "blog", "kubectl events --for pod/web-1", "kubectl -n blog events --for pod/web-1"},
		"logs of a pod":              {here, "blog", "Read: kubectl logs web-1 -c web --previous", "Read: kubectl -n blog logs web-1 -c web --previous"},
		"a deletion":                 {here, "blog", "delete them: kubectl delete serviceaccount/web", "delete them: kubectl -n blog delete serviceaccount/web"},
		"a rollout":                  {here, "blog", "start the pods: kubectl rollout resume deployment/web", "start the pods: kubectl -n blog rollout resume deployment/web"},
		"a patch":                    {here, "blog", "kubectl patch applications.apps.fairlead.dev web --type=merge", "kubectl -n blog patch applications.apps.fairlead.dev web --type=merge"},
		"limits":                     {here, "blog", "kubectl describe limitranges", "kubectl -n blog describe limitranges"},
		"claims":                     {here, "blog", "kubectl describe persistentvolumeclaims", "kubectl -n blog describe persistentvolumeclaims"},
		"a Secret":                   {here, "blog", "kubectl create secret tls web", "kubectl -n blog create secret tls web"},
		"a manifest":                 {here, "blog", "kubectl get applications.apps.fairlead.dev web -o yaml", "kubectl -n blog get applications.apps.fairlead.dev web -o yaml"},
		"two manifests":              {here, "blog", "kubectl get deployment,service web -o yaml", "kubectl -n blog get deployment,service web -o yaml"},
		"autoscalers":                {here, "blog", "kubectl get horizontalpodautoscalers", "kubectl -n blog get horizontalpodautoscalers"},
		"a number of pods":           {here, "blog", "kubectl fairlead scale web --replicas=5", "kubectl fairlead -n blog scale web --replicas=5"},
		"of the cluster":             {here, "blog", "kubectl fairlead doctor, kubectl describe nodes, kubectl get nodes", "kubectl fairlead doctor, kubectl describe nodes, kubectl get nodes"},
	} {
		if got := test.tool.withNamespace(test.namespace, test.text); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// toolWith has a kubeconfig, and --namespace if it is not empty.
func toolWith(config clientcmdapi.Config, namespace string) *tool {
	overrides := &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: namespace}}
	getter := genericclioptions.NewTestConfigFlags().WithClientConfig(clientcmd.NewDefaultClientConfig(config, overrides))
	quiet := &tool{factory: cmdutil.NewFactory(getter), getenv: func(string) string { return "" }}
	quiet.Out, quiet.ErrOut = io.Discard, io.Discard
	return quiet
}

// TestNotFoundInNamespace: a user who gave the namespace reads it, and no advice to give one.
func TestNotFoundInNamespace(t *testing.T) {
	const (
		gone = `applications.apps.fairlead.dev "web" not found`
		hint = "If it is in another namespace, pass that with -n: 'kubectl fairlead get -A' lists all."
	)
	for _, test := range []struct{ namespace, meant, want string }{
		{"", "", gone + "\n" + hint},
		{"", "wbe", gone + "\nDid you mean wbe? " + hint},
		{"blog", "", gone + " in namespace blog"},
		{"blog", "wbe", gone + " in namespace blog\nDid you mean wbe?"},
	} {
		err := toolWith(*clientcmdapi.NewConfig(), test.namespace).notFound(apierrors.NewNotFound(v1.Resource("applications"), "web"))
		if test.meant != "" {
			err = &misspeltError{err, test.meant}
		}
		if got := explain(&missingError{[]error{err}}); got != test.want {
			t.Errorf("-n %q: %q, want %q", test.namespace, got, test.want)
		}
	}
}

// TestExplainEach: each missing Application has its own explanation.
func TestExplainEach(t *testing.T) {
	const (
		in     = "If it is in another namespace, pass that with -n: 'kubectl fairlead get -A' lists all."
		permit = "Ask for the permission, or pass another --context or --namespace."
	)
	gone := func(name string) error { return apierrors.NewNotFound(v1.Resource(v1.ApplicationResource), name) }
	says := func(name string) string { return `applications.apps.fairlead.dev "` + name + `" not found` + "\n" }
	denied := apierrors.NewForbidden(v1.Resource(v1.ApplicationResource), "secret", errors.New("no"))
	for _, test := range []struct {
		errs []error
		want string
	}{
		{[]error{gone("one"), &misspeltError{gone("wbe"), "web"}}, says("one") + in + "\n" + says("wbe") + "Did you mean web? " + in},
		{[]error{&misspeltError{gone("wbe"), "web"}, &misspeltError{gone("pai"), "api"}}, says("wbe") + "Did you mean web? " + in + "\n" + says("pai") + "Did you mean api? " + in},
		{[]error{gone("one"), denied}, says("one") + in + "\n" + denied.Error() + "\n" + permit},
		{[]error{gone("one"), gone("two")}, says("one") + says("two") + in},
		{[]error{&notFoundInError{gone("one"), "shop"}, &misspeltError{&notFoundInError{gone("wbe"), "shop"}, "web"}},
			strings.TrimSpace(says("one")) + " in namespace shop\n" + strings.TrimSpace(says("wbe")) + " in namespace shop\nDid you mean web?"},
	} {
		if got := explain(&missingError{test.errs}); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestLeftDeployment: an Application takes back what an earlier one of its name left behind.
func TestLeftDeployment(t *testing.T) {
	left := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy}, Annotations: map[string]string{v1.AnnotationOwnerUID: "gone"},
	}}
	clients := &cluster.Clients{Kube: kubefake.NewClientset(left)}
	const want = "there is no Application web in namespace shop, but a Deployment of that name, which an earlier one left behind. " +
		"Apply the manifest of the Application again, and take the Deployment back: see docs/guides/take-back.md"
	if err := (&tool{}).adoptable(t.Context(), clients, types.NamespacedName{Namespace: "shop", Name: "web"}, nil); err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	missing := apierrors.NewGenericServerResponse(404, "get", v1.Resource(v1.ApplicationResource), "web", "404 page not found", 0, true)
	if err := (&tool{}).adoptable(t.Context(), clients, types.NamespacedName{Namespace: "shop", Name: "web"}, missing); !errors.Is(err, missing) {
		t.Errorf("without the CRDs: %v, want %v", err, missing)
	}
}
