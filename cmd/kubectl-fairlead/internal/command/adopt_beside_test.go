// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestStayingNamesServices: a Service of another name that selects the pods is the user's, as before.
func TestStayingNamesServices(t *testing.T) {
	service := func(namespace, name string, selector map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.ServiceSpec{Selector: selector}}
	}
	pods := map[string]string{"app": "duo"}
	deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "duo", "tier": "web"}}}}}
	kube := kubefake.NewClientset(service("shop", "duo-svc", pods), service("other", "duo-other", pods),
		service("shop", "elsewhere", map[string]string{"app": "duo", "tier": "store"}), service("shop", "manual", nil))
	a := adopting{clients: &cluster.Clients{Kube: kube, Dynamic: httpRoutes()}, namespace: "shop", name: "duo", deployment: deployment}
	application := &v1.Application{Spec: v1.ApplicationSpec{Ports: []v1.ApplicationPort{{Name: "port-8080", ContainerPort: 8080}}}}
	for _, test := range []struct {
		service *corev1.Service
		want    string
	}{
		{nil, "Service duo-svc selects these pods and stays yours. The Application creates Service duo beside it."},
		{service("shop", "duo", pods), "Service duo-svc selects these pods and stays yours."},
	} {
		if a.service = test.service; a.service != nil {
			if err := kube.Tracker().Add(a.service); err != nil {
				t.Fatal(err)
			}
		}
		got, err := a.staying(t.Context(), application)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"", test.want, ""}, got); diff != "" {
			t.Errorf("it says (-want +got):\n%s", diff)
		}
	}
}

// TestMentions: an annotation of the pods that names the container by its former name is not rewritten, and said.
func TestMentions(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "cart"}, Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"ad.datadoghq.com/server.logs": "[]", adopt.DefaultContainer: "server"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "server"}}},
	}}}
	a := adopting{name: "cart", deployment: deployment}
	draft, err := adopt.Draft(deployment, nil, a.options)
	if err != nil {
		t.Fatal(err)
	}
	const want = "The container server becomes cart, and these annotations of the pods may mean it: ad.datadoghq.com/server.logs. " +
		"Check them in spec.podMetadata.annotations before you release the rollout."
	if got, err := a.mentions(draft); err != nil || got != want {
		t.Errorf("it says %q, %v", got, err)
	}
	for _, nothing := range []*v1.Application{{}, {Spec: v1.ApplicationSpec{PodMetadata: &v1.PodMetadata{}}}} {
		if got, err := a.mentions(nothing); err != nil || got != "" {
			t.Errorf("without annotations it says %q, %v", got, err)
		}
	}
}
