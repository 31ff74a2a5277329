// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
)

func TestLoadUnboundClaims(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	claim := func(name string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: loaded.Application.Namespace, Name: name},
			Status:     corev1.PersistentVolumeClaimStatus{Phase: phase},
		}
	}
	clients := &cluster.Clients{Kube: fake.NewClientset(claim("bound", corev1.ClaimBound), claim("pending", corev1.ClaimPending), claim("other", corev1.ClaimPending))}
	if err := clients.LoadUnboundClaims(t.Context(), loaded, []string{"bound", "missing", "pending"}); err != nil {
		t.Fatal(err)
	}
	if len(loaded.UnboundClaims) != 1 || loaded.UnboundClaims[0].Name != "pending" {
		t.Errorf("unbound are %v, want pending alone", loaded.UnboundClaims)
	}
}
