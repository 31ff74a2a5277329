// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestQuotaOfChildren: why gives each child that a quota refuses its reason, and an edit says that pods start once the Deployment can be
// written.
func TestQuotaOfChildren(t *testing.T) {
	p := start(t)
	p.limit(corev1.ResourceList{"services": resource.MustParse("0"), "count/deployments.apps": resource.MustParse("0")})
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

// TestQuotaOfRollout: the advice for a quota that the old pod fills ends the rollout.
func TestQuotaOfRollout(t *testing.T) {
	p := start(t)
	p.limit(corev1.ResourceList{"pods": resource.MustParse("1")})
	p.create("web", "{image: example.com/web:1, replicas: 1}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"set", "image", "web", "example.com/web:2"})
	p.eventually("the new pod to be refused", func() bool { return len(p.get("web").Status.Problems) > 0 })
	p.want(0, []string{"set", "image", "web", "example.com/web:3", "--dry-run=client"},
		"containers[web].image. At present the API server refuses pods: see kubectl fairlead -n "+p.namespace+" why web\n")
	const patch = `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":0}}}}`
	p.want(1, []string{"why", "web"}, "none serves meanwhile: kubectl -n "+p.namespace+" patch applications.apps.fairlead.dev web --type=merge --patch '"+patch+"'",
		"kubectl fairlead -n "+p.namespace+" restart web")
	if _, err := p.fairlead.AppsV1().Applications(p.namespace).Patch(t.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"restart", "web"})
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "1 of 1 pods updated, 1 available")
}

// limit adds a ResourceQuota, and waits until it counts.
func (p *plugin) limit(hard corev1.ResourceList) {
	p.Helper()
	quotas := kubernetes.NewForConfigOrDie(p.cluster.Config()).CoreV1().ResourceQuotas(p.namespace)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	if _, err := quotas.Create(p.Context(), quota, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	p.eventually("the quota to be counted", func() bool {
		counted, err := quotas.Get(p.Context(), quota.Name, metav1.GetOptions{})
		return err == nil && len(counted.Status.Used) == len(hard)
	})
}

// TestRaisedQuota: a quota that was raised has room, and why says how to have the pods at once.
func TestRaisedQuota(t *testing.T) {
	p := start(t)
	p.limit(corev1.ResourceList{"pods": resource.MustParse("0")})
	p.create("web", "{image: example.com/web:1, replicas: 1}")
	p.eventually("the pod to be refused", func() bool { return len(p.get("web").Status.Problems) > 0 })
	p.want(1, []string{"why", "web"}, "A ResourceQuota of this namespace allows no more pods.", "Or then have Kubernetes try at once, which replaces no pod: kubectl -n "+p.namespace+" annotate deployment web --overwrite retry=\"$(date)\"")
	kube := kubernetes.NewForConfigOrDie(p.cluster.Config())
	quotas := kube.CoreV1().ResourceQuotas(p.namespace)
	if _, err := quotas.Patch(t.Context(), "small", types.MergePatchType, []byte(`{"spec":{"hard":{"pods":"2"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the raise to count", func() bool {
		raised, err := quotas.Get(t.Context(), "small", metav1.GetOptions{})
		return err == nil && raised.Status.Hard.Pods().Value() == 2
	})
	answer := p.run("why", "web")
	// Kubernetes may try again at any time, and be faster.
	if !strings.Contains(answer.stdout, "Have Kubernetes try at once, which replaces no pod: kubectl -n "+p.namespace+" annotate deployment web --overwrite retry=\"$(date)\"") && len(p.pods(kube)) == 0 {
		t.Errorf("why does not see the room:\n%s", answer.stdout)
	}
	annotate := []byte(`{"metadata":{"annotations":{"retry":"now"}}}`)
	if _, err := kube.AppsV1().Deployments(p.namespace).Patch(t.Context(), "web", types.MergePatchType, annotate, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "1 of 1 pods updated, 1 available; revision 1")
}

// TestQuotaOfReplicaSets: the Deployment controller does not write that it has observed a rollout whose ReplicaSet is refused.
func TestQuotaOfReplicaSets(t *testing.T) {
	p := start(t)
	p.limit(corev1.ResourceList{"count/replicasets.apps": resource.MustParse("1")})
	p.create("web", "{image: example.com/web:1, replicas: 2}")
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"})
	p.want(0, []string{"set", "image", "web", "example.com/web:2"})
	p.eventually("the Application to be stalled", func() bool { return len(p.get("web").Status.Problems) > 0 })
	p.want(1, []string{"why", "web"}, "web is not ready (QuotaExceeded), and will not be until someone acts.", "A ResourceQuota of this namespace allows no more ReplicaSets.",
		"2 pods of an older revision still serve.", "Delete former ReplicaSets, which have no pods, or ask for more quota: kubectl -n "+p.namespace+" describe resourcequotas",
		"Have it try again once the cause is gone: kubectl -n "+p.namespace+" annotate deployment web --overwrite retry=\"$(date)\"",
		"Or go back to revision 1, the last one that was healthy: kubectl fairlead -n "+p.namespace+" undo web --to-revision=1")
	p.want(1, []string{"status", "web"}, "0 of 2 pods updated, 2 available")
	p.want(0, []string{"tree", "web"}, "Failed to create new replica set")
	quotas := kubernetes.NewForConfigOrDie(p.cluster.Config()).CoreV1().ResourceQuotas(p.namespace)
	if err := quotas.Delete(t.Context(), "small", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	answer := p.run("why", "web")
	// Kubernetes may try again at any time, and be faster.
	if !strings.Contains(answer.stdout, "allowed no more ReplicaSets; it does not exist any more.") && len(p.get("web").Status.Problems) > 0 {
		t.Errorf("why does not see that the quota is gone:\n%s", answer.stdout)
	}
	p.want(0, []string{"restart", "web"})
	p.want(0, []string{"status", "web", "--watch", "--timeout=60s"}, "2 of 2 pods updated, 2 available")
}
