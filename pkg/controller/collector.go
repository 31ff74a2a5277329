// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// conditionTypes are the counted conditions. Other conditions, which another client may add, must not become labels.
var conditionTypes = []string{
	v1.ConditionReady, v1.ConditionReconciling, v1.ConditionStalled, v1.ConditionAvailable, v1.ConditionProgressing,
	v1.ConditionRoutesReady, v1.ConditionAutoscalingActive, v1.ConditionMonitoringReady, v1.ConditionPaused, v1.ConditionConfigWatched,
	v1.ConditionRolledBack, v1.ConditionDrifted, v1.ConditionAdopted,
}

// applications counts the cached Applications by their conditions at each scrape. Every replica has the same caches, so
// every replica reports the same numbers.
type applications struct {
	metrics.BaseStableCollector
	each  func(func(*v1.Application))
	count *metrics.Desc
	by    *metrics.Desc
}

func newApplications(each func(func(*v1.Application))) *applications {
	return &applications{
		each: each,
		count: metrics.NewDesc("fairlead_applications",
			"Applications in the cache of this replica.", nil, nil, metrics.ALPHA, ""),
		by: metrics.NewDesc("fairlead_application_conditions",
			"Applications in the cache of this replica, by type and status of a condition. An Application without the condition is not counted for it.",
			[]string{"type", "status"}, nil, metrics.ALPHA, ""),
	}
}

// DescribeWithStability implements metrics.StableCollector.
func (a *applications) DescribeWithStability(descs chan<- *metrics.Desc) {
	descs <- a.count
	descs <- a.by
}

// CollectWithStability implements metrics.StableCollector. It walks the cache once and copies nothing.
func (a *applications) CollectWithStability(samples chan<- metrics.Metric) {
	statuses := []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}
	type label struct {
		kind   string
		status metav1.ConditionStatus
	}
	total, counts := 0, map[label]int{}
	a.each(func(application *v1.Application) {
		total++
		for i := range application.Status.Conditions {
			condition := &application.Status.Conditions[i]
			counts[label{condition.Type, condition.Status}]++
		}
	})
	samples <- metrics.NewLazyConstMetric(a.count, metrics.GaugeValue, float64(total))
	for _, kind := range conditionTypes {
		for _, status := range statuses {
			samples <- metrics.NewLazyConstMetric(a.by, metrics.GaugeValue, float64(counts[label{kind, status}]), kind, string(status))
		}
	}
}
