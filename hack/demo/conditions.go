// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// conditionsInOneLine shows each condition with a mark, and with its reason unless all is well or Ready has the same.
func conditionsInOneLine(application *v1.Application, s style) line {
	var shown line
	reason := ""
	if ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady); ready != nil {
		reason = ready.Reason
	}
	for i, condition := range application.Status.Conditions {
		if i > 0 {
			shown = append(shown, text("  "))
		}
		mark := conditionTone(application, condition)
		shown = append(shown, s.mark(mark), text(" %s", condition.Type))
		if mark != good && condition.Reason != reason {
			shown = append(shown, toned(faint, " (%s)", condition.Reason))
		}
	}
	return shown
}

// conditionTone says whether a condition is good news. Most are when they are True; those that are only there while
// something is unusual are not.
func conditionTone(application *v1.Application, condition metav1.Condition) tone {
	if condition.ObservedGeneration != application.Generation {
		return busy // It is about an older spec.
	}
	switch condition.Type {
	case v1.ConditionReconciling, v1.ConditionPaused:
		return busy
	case v1.ConditionStalled, v1.ConditionDrifted, v1.ConditionRolledBack:
		if condition.Status == metav1.ConditionFalse {
			return good
		}
		return bad
	}
	switch {
	case condition.Status == metav1.ConditionTrue:
		return good
	case condition.Status == metav1.ConditionUnknown, isTrue(application, v1.ConditionReconciling):
		return busy
	default:
		return bad
	}
}

func isTrue(application *v1.Application, condition string) bool {
	return meta.IsStatusConditionTrue(application.Status.Conditions, condition)
}

// isCurrent tells whether the status is about the spec as it is now.
func isCurrent(application *v1.Application) bool {
	return application.Status.ObservedGeneration == application.Generation
}

// allWell tells whether the Application works as its current spec says, with as many pods, and so do its children.
func allWell(application *v1.Application) bool {
	for _, child := range application.Status.Resources {
		if child.State != v1.ResourceSynced {
			return false
		}
	}
	return isCurrent(application) && isTrue(application, v1.ConditionReady) && application.Status.AvailableReplicas >= fewestPods(application)
}

// fewestPods is how many pods there must be at least. A new autoscaler takes a moment to raise them from 1.
func fewestPods(application *v1.Application) int32 {
	switch spec := application.Spec; {
	case spec.Replicas != nil:
		return *spec.Replicas
	case spec.Autoscaling != nil && spec.Autoscaling.MinReplicas != nil:
		return *spec.Autoscaling.MinReplicas
	default:
		return 1
	}
}

// lacksMetrics tells whether the autoscaler has nothing to decide by: the cluster has no metrics server.
func lacksMetrics(application *v1.Application) bool {
	active := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAutoscalingActive)
	return active != nil && active.Status == metav1.ConditionFalse && active.Reason == "FailedGetResourceMetric"
}
