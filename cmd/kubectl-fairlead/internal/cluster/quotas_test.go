// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
)

// TestLoadQuotas: quotas that the user may not read are not the same as none.
func TestLoadQuotas(t *testing.T) {
	loaded := clustertest.Load(t, "quota")
	quota := func(namespace string) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "pods"}}
	}
	kube := fake.NewClientset(quota(loaded.Application.Namespace), quota("other"))
	clients := &cluster.Clients{Kube: kube}
	if err := clients.LoadQuotas(t.Context(), loaded); err != nil || len(loaded.Quotas) != 1 || !loaded.QuotasRead {
		t.Errorf("%v, %v: %v", loaded.Quotas, loaded.QuotasRead, err)
	}
	kube.PrependReactor("list", "resourcequotas", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("resourcequotas"), "", nil)
	})
	hidden := clustertest.Load(t, "quota")
	if err := clients.LoadQuotas(t.Context(), hidden); err != nil || hidden.QuotasRead {
		t.Errorf("%v: %v", hidden.QuotasRead, err)
	}
}
