// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestQuotaOfChildren: why gives each child that a quota refuses its reason, and an edit says that pods start once the Deployment can be
// written.
func TestQuotaOfChildren(t *testing.T) {
	p := start(t)
	quotas := kubernetes.NewForConfigOrDie(p.cluster.Config()).CoreV1().ResourceQuotas(p.namespace)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
	quota.Spec.Hard = corev1.ResourceList{"services": resource.MustParse("0"), "count/deployments.apps": resource.MustParse("0")}
	if _, err := quotas.Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the quota to be counted", func() bool {
		counted, err := quotas.Get(t.Context(), "small", metav1.GetOptions{})
		return err == nil && len(counted.Status.Used) == 2
	})
	p.create("web", "{image: example.com/web:1, replicas: 2, ports: [{name: http, containerPort: 8080, servicePort: 80}]}")
	p.eventually("both to be refused", func() bool {
		failed := 0
		for _, resource := range p.get("web").Status.Resources {
			if resource.State == v1.ResourceFailed {
				failed++
			}
		}
		return failed == 2
	})
	p.want(1, []string{"why", "web"}, "Deployment web is refused by a ResourceQuota of this namespace.", "Service web is refused by a ResourceQuota of this namespace.")
	const none = "The Deployment does not exist, so no pod is replaced. "
	p.want(0, []string{"set", "image", "web", "example.com/web:2"}, none+"2 pods start once it can be written.\n")
	p.want(0, []string{"scale", "web", "--replicas=1"}, none+"1 pod starts once it can be written.\n")
}
