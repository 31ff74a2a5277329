// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestRivalScalers: scale warns of each autoscaler of another client, and goes on where they cannot be listed.
func TestRivalScalers(t *testing.T) {
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid"}}
	scaler := func(name, version, kind, target string) *autoscalingv2.HorizontalPodAutoscaler {
		return &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
			Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: version, Kind: kind, Name: target}},
		}
	}
	kube := kubefake.NewClientset(
		scaler("auto", "apps/v1", "Deployment", "web"), scaler("spec", "apps.fairlead.dev/v1", "Application", "web"),
		scaler("other", "apps.fairlead.dev/v1", "Application", "shop"), scaler("set", "apps/v1", "StatefulSet", "web"), scaler("foreign", "example.com/v1", "Application", "web"),
	)
	clients := &cluster.Clients{Kube: kube}
	want := []string{"shop/web: HorizontalPodAutoscaler auto sets the number of pods too, and the two will fight: " +
		"remove spec.replicas and change its minReplicas and maxReplicas instead, or delete it",
		"shop/web: HorizontalPodAutoscaler spec scales this Application: it sets spec.replicas again as its metrics ask: " +
			"change its minReplicas and maxReplicas instead, or delete it"}
	if got := rivalScalers(t.Context(), clients, application); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	resource := autoscalingv2.Resource("horizontalpodautoscalers")
	for _, refused := range []error{apierrors.NewForbidden(resource, "", nil), errors.New("no answer")} {
		kube.PrependReactor("list", resource.Resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refused })
		if got := rivalScalers(t.Context(), clients, application); len(got) > 0 {
			t.Errorf("%v: %q", refused, got)
		}
	}
}
