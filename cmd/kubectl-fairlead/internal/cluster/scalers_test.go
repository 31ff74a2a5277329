// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"slices"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestLoadScalers finds the autoscalers of others by their target, since they have no label of the Application.
func TestLoadScalers(t *testing.T) {
	loaded := clustertest.Load(t, "contended")
	scaler := func(name, apiVersion, kind, target string) *autoscalingv2.HorizontalPodAutoscaler {
		return &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: loaded.Application.Namespace, Name: name},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: apiVersion, Kind: kind, Name: target},
			},
		}
	}
	own := scaler("own", "apps/v1", "Deployment", "web")
	own.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(loaded.Application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))}
	elsewhere := scaler("elsewhere", "apps/v1", "Deployment", "web")
	elsewhere.Namespace = "elsewhere"
	clients := &cluster.Clients{Kube: fake.NewClientset([]runtime.Object{
		scaler("auto", "apps/v1", "Deployment", "web"), own, elsewhere,
		scaler("other-name", "apps/v1", "Deployment", "shop"), scaler("other-kind", "apps/v1", "StatefulSet", "web"),
		scaler("the-application", v1.SchemeGroupVersion.String(), v1.ApplicationKind, "web"),
	}...)}
	if err := clients.LoadScalers(t.Context(), loaded); err != nil {
		t.Fatal(err)
	}
	if want := []string{"auto"}; !slices.Equal(loaded.Scalers, want) {
		t.Errorf("found %q, want %q", loaded.Scalers, want)
	}
	if want := []string{"the-application"}; !slices.Equal(loaded.SpecScalers, want) {
		t.Errorf("found %q, want %q", loaded.SpecScalers, want)
	}
}
