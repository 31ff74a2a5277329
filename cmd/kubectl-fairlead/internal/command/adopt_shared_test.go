// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestSharedService: the Service selects the pods of a canary too, so the adoption could not end. The user learns that before the adoption,
// and the rollout is refused.
func TestSharedService(t *testing.T) {
	app := map[string]string{"app": "two"}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "two", UID: "two"}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: app}}}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "two-1", UID: "two-1", Labels: app, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind(child.Deployment.Kind))},
	}}
	own := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "two-1-a", Labels: app, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
	}}
	pod := func(name string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: labels}}
	}
	renewed := pod("two-2-a", map[string]string{"app": "two", v1.LabelApplication: "two"})
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "two", Annotations: map[string]string{v1.AnnotationAdoptableBy: "uid"},
			Labels: map[string]string{v1.LabelManagedBy: v1.ManagedBy, v1.LabelApplication: "two"},
		},
		Spec: corev1.ServiceSpec{Selector: app},
	}
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "two", UID: "uid"}}
	canary := func(name string) *corev1.Pod { return pod(name, map[string]string{"app": "two", "track": "canary"}) }
	const replace = "If the controller selects by them, its selector cannot change: replace it by another controller, which selects by other labels. "
	for _, test := range []struct {
		others       []runtime.Object
		pods, advice string
	}{
		{[]runtime.Object{pod("other", map[string]string{"app": "other"})}, "", ""},
		{
			[]runtime.Object{canary("canary-a")},
			"pod canary-a too, which is not this Application's, so it cannot be adopted",
			"Change the labels in the pod template of its controller. " + replace + "Without a controller, delete the pod or give it other labels. ",
		},
		{
			[]runtime.Object{canary("canary-a"), canary("canary-b"), canary("canary-c"), canary("canary-d")},
			"pods canary-a, canary-b, canary-c and 1 more too, which are not this Application's, so it cannot be adopted",
			"Change the labels in the pod template of their controller. " + replace + "Without a controller, delete the pods or give them other labels. ",
		},
	} {
		kube := kubefake.NewClientset(append(test.others, set, own, renewed, service)...)
		var out bytes.Buffer
		tool := toolWith(*clientcmdapi.NewConfig(), "shop")
		tool.Out, tool.ErrOut, tool.getenv = &out, &out, func(string) string { return "" }
		a := adopting{tool: tool, clients: &cluster.Clients{Kube: kube}, namespace: "shop", name: "two", deployment: deployment}
		announced, refused := "", ""
		if test.pods != "" {
			advice := test.advice + "Or narrow the selector of the Service to labels that only the pods of the Deployment have."
			announced = "  ! The Service two selects " + test.pods + ", and --rollout is refused until it can be. " + advice + "\n"
			refused = "nothing was written: the Service two selects " + test.pods + ". " + advice + " Until the pods are replaced, you can also take the adoption back: run " +
				"kubectl fairlead -n shop adopt two --abort"
		}
		if err := a.announceShared(t.Context(), &others{live: service}); err != nil || out.String() != announced {
			t.Errorf("it announces %q, %v; want %q", out.String(), err, announced)
		}
		err := a.refuseShared(t.Context(), application, deployment)
		if (err == nil) != (refused == "") || err != nil && err.Error() != refused {
			t.Errorf("the rollout: %v, want %q", err, refused)
		}
	}
}
