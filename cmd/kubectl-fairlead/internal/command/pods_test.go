// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestPodsOf: one selector has the pods of several Applications, but for those that lack the label.
func TestPodsOf(t *testing.T) {
	named := func(name, selector string) *v1.Application {
		application := &v1.Application{Status: v1.ApplicationStatus{Selector: selector}}
		application.Name = name
		return application
	}
	web, api, adopted := named("web", "apps.fairlead.dev/application=web"), named("api", ""), named("shop", "app=shop")
	for _, test := range []struct {
		of         []*v1.Application
		want, fail string
	}{
		{of: []*v1.Application{api}, want: "apps.fairlead.dev/application=api"},
		{of: []*v1.Application{adopted}, want: "app=shop"},
		{of: []*v1.Application{web, api}, want: "apps.fairlead.dev/application in (web,api)"},
		{of: []*v1.Application{web, adopted}, fail: "the pods of shop have no label of it before their first rollout: print their logs in a command of their own"},
	} {
		got, err := podsOf(test.of)
		if got != test.want || (err != nil || test.fail != "") && (err == nil || err.Error() != test.fail) {
			t.Errorf("%q, %v, want %q, %q", got, err, test.want, test.fail)
		}
	}
}

// TestCheckStarted: kubectl prints no logs of pods that do not exist or have no node, and says nothing of why.
func TestCheckStarted(t *testing.T) {
	flags := genericclioptions.NewTestConfigFlags().WithClientConfig(clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), nil))
	named := func(name string) *v1.Application {
		return &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	pod := func(name, of, node string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{v1.LabelApplication: of}},
			Spec:       corev1.PodSpec{NodeName: node},
		}
	}
	for _, test := range []struct {
		name string
		pods []runtime.Object
		of   []*v1.Application
		want string
	}{
		{"none", []runtime.Object{pod("other", "other", "node-1")}, []*v1.Application{named("web")},
			"there are no logs, because there is no pod of web: see 'kubectl fairlead -n shop why web'"},
		{"none of two", nil, []*v1.Application{named("web"), named("api")},
			"there are no logs, because there is no pod of web and api: see 'kubectl fairlead -n shop why web api'"},
		{"no node", []runtime.Object{pod("web-1", "web", "")}, []*v1.Application{named("web")},
			"there are no logs, because no pod of web has a node yet: see 'kubectl fairlead -n shop why web'"},
		{"one has a node", []runtime.Object{pod("web-1", "web", ""), pod("web-2", "web", "node-1")}, []*v1.Application{named("web")}, ""},
	} {
		selector, err := podsOf(test.of)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		clients := &cluster.Clients{Kube: fake.NewClientset(test.pods...)}
		if err := (&tool{factory: cmdutil.NewFactory(flags)}).checkStarted(t.Context(), clients, test.of, selector); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
