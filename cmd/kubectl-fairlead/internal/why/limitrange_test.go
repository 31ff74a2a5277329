// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestLimitRangeAllows: the LimitRange was changed, and its message stays in status until Kubernetes tries again.
func TestLimitRangeAllows(t *testing.T) {
	const (
		refused = "A LimitRange of this namespace refuses the pods."
		allowed = "When Kubernetes last tried, a LimitRange of this namespace refused the pods; by now none does."
		stuck   = "quota/web is not ready (PolicyDenied), and will not be until the API server accepts its pods."
		comes   = "quota/web is not ready (PolicyDenied): Kubernetes tries again within 17 minutes to create its pods, which its limits allow now."
		keep    = "Keep spec.resources within its limits, or ask for others: kubectl describe limitranges"
		retry   = `kubectl annotate deployment web --overwrite retry="$(date)"`
		large   = "maximum memory usage per Container is 100Mi, but limit is 200Mi"
		small   = "minimum cpu usage per Pod is 1, but request is 500m"
		ratio   = "cpu max limit to request ratio per Container is 2, but provided ratio is 8.000000"
		none    = "maximum memory usage per Container is 100Mi. No limit is specified"
	)
	outside := []string{keep, "Once the cause is gone, the pods come within 17 minutes: Kubernetes tries again at growing intervals.",
		"Or then have Kubernetes try at once, which replaces no pod: " + retry}
	within := []string{"Have Kubernetes try at once, which replaces no pod: " + retry, "Or wait: it tries again at growing intervals, the next time within 17 minutes."}
	item := func(of corev1.LimitType, change func(*corev1.LimitRangeItem)) []*corev1.LimitRange {
		limit := corev1.LimitRangeItem{Type: of}
		change(&limit)
		return []*corev1.LimitRange{{}, {Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypePersistentVolumeClaim}, limit}}}}
	}
	highest := func(of corev1.LimitType, name corev1.ResourceName, value string) []*corev1.LimitRange {
		return item(of, func(limit *corev1.LimitRangeItem) { limit.Max = amount(name, value) })
	}
	lowest := func(value string) []*corev1.LimitRange {
		return item(corev1.LimitTypePod, func(limit *corev1.LimitRangeItem) { limit.Min = amount(corev1.ResourceCPU, value) })
	}
	ratios := func(value string) []*corev1.LimitRange {
		return item(corev1.LimitTypeContainer, func(limit *corev1.LimitRangeItem) { limit.MaxLimitRequestRatio = amount(corev1.ResourceCPU, value) })
	}
	const container, pod, memory = corev1.LimitTypeContainer, corev1.LimitTypePod, corev1.ResourceMemory
	for _, test := range []struct {
		name    string
		message string
		limits  []*corev1.LimitRange
		unread  bool
		allows  bool
	}{
		{"as it was", large, highest(container, memory, "100Mi"), false, false},
		{"raised too little", large, highest(container, memory, "150Mi"), false, false},
		{"raised", large, highest(container, memory, "200Mi"), false, true},
		{"deleted", large, nil, false, true},
		{"unread", large, nil, true, false},
		{"of pods now", large, highest(pod, memory, "100Mi"), false, true},
		{"of another resource now", large, highest(container, corev1.ResourceCPU, "1"), false, true},
		{"no limit, as it was", none, highest(container, memory, "100Mi"), false, false},
		{"no limit, deleted", none, nil, false, true},
		{"a minimum, as it was", small, lowest("1"), false, false},
		{"a minimum, lowered", small, lowest("500m"), false, true},
		{"a ratio, as it was", ratio, ratios("2"), false, false},
		{"a ratio, raised", ratio, ratios("8"), false, true},
		{"the first of two holds", "[" + large + ", " + ratio + "]", highest(container, memory, "100Mi"), false, false},
		{"the second of two holds", "[" + large + ", " + ratio + "]", ratios("2"), false, false},
		{"neither holds", "[" + large + ", " + ratio + "]", nil, false, true},
	} {
		loaded := clustertest.Load(t, "quota")
		loaded.EventsOfObjects = nil
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonPolicyDenied, Message: test.message}}
		for i := range loaded.Application.Status.Conditions {
			if condition := &loaded.Application.Status.Conditions[i]; condition.Reason == v1.ReasonQuotaExceeded {
				condition.Reason = v1.ReasonPolicyDenied
			}
		}
		loaded.LimitRanges, loaded.LimitRangesRead = test.limits, !test.unread
		headline, what, next := stuck, refused, outside
		if test.allows {
			headline, what, next = comes, allowed, within
		}
		if !why.RefusedByLimitRange(loaded.Application) {
			t.Errorf("%s: the LimitRanges are not read", test.name)
		}
		answer := why.Explain(loaded)
		if finding := answer.Findings[0]; answer.Headline != headline || !strings.HasPrefix(finding.What, what) || !slices.Equal(finding.Next, next) {
			t.Errorf("%s: %q, %q with %q", test.name, answer.Headline, finding.What, finding.Next)
		}
	}
	if quota := clustertest.Load(t, "quota"); why.RefusedByLimitRange(quota.Application) {
		t.Error("the LimitRanges are read where a quota refuses the pods")
	}
}
