// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	kubefake "k8s.io/client-go/kubernetes/fake"
	kubescheme "k8s.io/client-go/kubernetes/scheme"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

// TestNothingToGiveBack: Helm has the objects after --to-helm, and also if they were never adopted.
func TestNothingToGiveBack(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", Annotations: map[string]string{
		"meta.helm.sh/release-name": "web-1", "meta.helm.sh/release-namespace": "shop",
	}}}
	kinds := map[schema.GroupVersionResource]string{}
	for _, kind := range child.AllKinds() {
		kinds[kind.GroupVersionResource()] = kind.Kind + "List"
	}
	var out bytes.Buffer
	tool := toolWith(*clientcmdapi.NewConfig(), "shop")
	tool.Out = &out
	clients := &cluster.Clients{
		Kube: kubefake.NewClientset(deployment), Fairlead: fake.NewClientset(),
		Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds),
	}
	e := &ejecting{tool: tool, clients: clients, namespace: "shop", name: "web", restore: true, toHelm: true}
	const want = "shop/web: there is nothing to give back: the Helm release shop/web-1 has the Deployment.\n"
	if stay, err := e.run(t.Context()); err != nil || len(stay) > 0 || out.String() != want {
		t.Errorf("%d stay, %v, %q, want %q", len(stay), err, out.String(), want)
	}
}

// TestEjectWithoutObjects: an Application that was refused from the start has no objects that could be the user's, or be taken back.
func TestEjectWithoutObjects(t *testing.T) {
	const (
		none     = "shop/web: the Application is deleted. It has no objects that could stay.\n"
		stay     = "shop/web: the Application is deleted, and these objects stay:\n  Deployment web\n  No pod is replaced.\n"
		takeBack = "  To take the objects back later, save the manifest of the Application first: kubectl -n shop get applications.apps.fairlead.dev web -o yaml\n"
		dryRun   = "  not written (dry run)\n"
	)
	for _, test := range []struct {
		name    string
		objects []runtime.Object
		dryRun  cmdutil.DryRunStrategy
		want    string
	}{
		{"none, dry run", nil, cmdutil.DryRunClient, none + dryRun},
		{"none", nil, cmdutil.DryRunNone, none + "shop/web: deleted.\n"},
		{"one, dry run", []runtime.Object{ejectable()}, cmdutil.DryRunClient, stay + takeBack + dryRun},
	} {
		application := policyStored()
		application.Spec.DeletionPolicy, application.Finalizers, application.Status.ObservedGeneration = v1.DeletionOrphan, []string{v1.FinalizerOrphan}, 1
		var out bytes.Buffer
		e := ejectingAmong(t, &out, fake.NewClientset(application), test.dryRun, test.objects...)
		stay, err := e.run(t.Context())
		if err != nil || len(stay) != len(test.objects) || out.String() != test.want {
			t.Errorf("%s: %d stay, %v, %q, want %q", test.name, len(stay), err, out.String(), test.want)
		}
	}
}

// ejectable is a Deployment of the Application of policyStored.
func ejectable() *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", Labels: map[string]string{v1.LabelApplication: "web"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(policyStored(), v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))},
		},
	}
}

// ejectingAmong ejects shop/web among the objects.
func ejectingAmong(t *testing.T, out *bytes.Buffer, applications *fake.Clientset, dryRun cmdutil.DryRunStrategy, objects ...runtime.Object) *ejecting {
	t.Helper()
	kinds := map[schema.GroupVersionResource]string{}
	for _, kind := range child.AllKinds() {
		kinds[kind.GroupVersionResource()] = kind.Kind + "List"
	}
	scheme := runtime.NewScheme()
	if err := kubescheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	tool := toolWith(*clientcmdapi.NewConfig(), "shop")
	tool.Out = out
	clients := &cluster.Clients{Kube: kubefake.NewClientset(), Fairlead: applications, Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(scheme, kinds, objects...)}
	return &ejecting{tool: tool, clients: clients, namespace: "shop", name: "web", editing: editing{dryRun: dryRun}}
}
