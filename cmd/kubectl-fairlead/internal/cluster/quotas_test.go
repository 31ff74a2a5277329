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

// TestLoadLimitRanges: LimitRanges that the user may not read are not the same as none.
func TestLoadLimitRanges(t *testing.T) {
	loaded := clustertest.Load(t, "quota")
	limits := func(namespace string) *corev1.LimitRange {
		return &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sizes"}}
	}
	kube := fake.NewClientset(limits(loaded.Application.Namespace), limits("other"))
	clients := &cluster.Clients{Kube: kube}
	if err := clients.LoadLimitRanges(t.Context(), loaded); err != nil || len(loaded.LimitRanges) != 1 || !loaded.LimitRangesRead {
		t.Errorf("%v, %v: %v", loaded.LimitRanges, loaded.LimitRangesRead, err)
	}
	kube.PrependReactor("list", "limitranges", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("limitranges"), "", nil)
	})
	hidden := clustertest.Load(t, "quota")
	if err := clients.LoadLimitRanges(t.Context(), hidden); err != nil || hidden.LimitRangesRead {
		t.Errorf("%v: %v", hidden.LimitRangesRead, err)
	}
}
