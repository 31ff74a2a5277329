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
	kube := kubefake.NewClientset(&autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "auto"},
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}},
	})
	clients := &cluster.Clients{Kube: kube}
	want := []string{"shop/web: HorizontalPodAutoscaler auto sets the number of pods too, and the two will fight: " +
		"remove spec.replicas and change its minReplicas and maxReplicas instead, or delete it"}
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
