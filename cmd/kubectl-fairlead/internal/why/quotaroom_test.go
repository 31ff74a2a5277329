// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestQuotaHasRoom: the quota was raised, and its message stays in status until Kubernetes tries again.
func TestQuotaHasRoom(t *testing.T) {
	const (
		stuck   = "quota/web is not ready (QuotaExceeded), and will not be until the API server accepts its pods."
		comes   = "quota/web is not ready (QuotaExceeded): Kubernetes tries again within 17 minutes to create its pods, for which there is quota now."
		full    = "A ResourceQuota of this namespace allows no more pods."
		raised  = "When Kubernetes last tried, ResourceQuota pods allowed no more pods; by now it has room for them."
		gone    = "When Kubernetes last tried, ResourceQuota pods allowed no more pods; it does not exist any more."
		free    = "Free some of the quota, ask for fewer pods, or ask for more quota: kubectl describe resourcequotas"
		atOnce  = "Have Kubernetes try at once, which replaces no pod: kubectl annotate deployment web --overwrite retry=\"$(date)\""
		orWait  = "Or wait: it tries again at growing intervals, the next time within 17 minutes."
		retries = "Once the cause is gone, the pods come within 17 minutes: Kubernetes tries again at growing intervals."
		thenToo = "Or then have Kubernetes try at once, which replaces no pod: kubectl annotate deployment web --overwrite retry=\"$(date)\""
	)
	quota := func(hard, used string) []*corev1.ResourceQuota {
		return []*corev1.ResourceQuota{
			{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Status: corev1.ResourceQuotaStatus{Hard: amount("pods", "9"), Used: amount("pods", "0")}},
			{ObjectMeta: metav1.ObjectMeta{Name: "pods"}, Status: corev1.ResourceQuotaStatus{Hard: amount("pods", hard), Used: amount("pods", used)}},
		}
	}
	for _, test := range []struct {
		name     string
		quotas   []*corev1.ResourceQuota
		unread   bool
		replicas int32
		change   func(*v1.Application)
		headline string
		what     string
		evidence string
		next     []string
	}{
		{"full", quota("1", "1"), false, 1, nil, stuck, full, "", []string{free, retries, thenToo}},
		{"unread", nil, true, 1, nil, stuck, full, "", []string{free, retries, thenToo}},
		{"room for one of two", quota("2", "1"), false, 1, nil, stuck, full, "", []string{free, retries, thenToo}},
		{"raised", quota("3", "1"), false, 1, nil, comes, raised, "pods: 1 of 3 used", []string{atOnce, orWait}},
		{"no pods", quota("3", "0"), false, 0, nil, comes, raised, "pods: 0 of 3 used", []string{atOnce, orWait}},
		{"deleted", quota("3", "1")[:1], false, 1, nil, comes, gone, "", []string{atOnce, orWait}},
		{"paused", quota("3", "1"), false, 1, func(a *v1.Application) { a.Spec.Paused = new(true) }, comes, raised, "pods: 1 of 3 used", []string{atOnce, orWait}},
		{"paused and full", quota("1", "1"), false, 1, func(a *v1.Application) { a.Spec.Paused = new(true) }, stuck, full, "", []string{free, retries, thenToo}},
	} {
		loaded := clustertest.Load(t, "quota")
		loaded.Quotas, loaded.QuotasRead = test.quotas, !test.unread
		loaded.Application.Status.Replicas = test.replicas
		if test.change != nil {
			test.change(loaded.Application)
		}
		if !why.RefusedByQuota(loaded.Application) {
			t.Errorf("%s: the quotas are not read", test.name)
		}
		answer := why.Explain(loaded)
		finding := answer.Findings[0]
		evidence := ""
		for _, one := range finding.Evidence {
			if one.Object == "ResourceQuota/pods" {
				evidence = one.Message
			}
		}
		if answer.Headline != test.headline || !strings.HasPrefix(finding.What, test.what) || evidence != test.evidence || !slices.Equal(finding.Next, test.next) {
			t.Errorf("%s: %q, %q with %q and %q", test.name, answer.Headline, finding.What, evidence, finding.Next)
		}
	}
	if healthy := clustertest.Load(t, "healthy"); why.RefusedByQuota(healthy.Application) {
		t.Error("the quotas of a healthy Application are read")
	}
}
