// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// conditionTone says whether a condition is good news. Most are when they are True; those that are only there while
// something is unusual are not.
func conditionTone(application *v1.Application, condition *metav1.Condition) steps.Tone {
	if condition.ObservedGeneration != application.Generation {
		return steps.Busy // It is about an older spec.
	}
	switch condition.Type {
	case v1.ConditionReconciling, v1.ConditionPaused:
		return steps.Busy
	case v1.ConditionStalled, v1.ConditionDrifted, v1.ConditionRolledBack:
		if condition.Status == metav1.ConditionFalse {
			return steps.Good
		}
		return steps.Bad
	}
	switch {
	case condition.Status == metav1.ConditionTrue:
		return steps.Good
	case condition.Status == metav1.ConditionUnknown, isTrue(application, v1.ConditionReconciling):
		return steps.Busy
	default:
		return steps.Bad
	}
}

func isTrue(application *v1.Application, condition string) bool {
	return meta.IsStatusConditionTrue(application.Status.Conditions, condition)
}

// isCurrent reports whether the status is about the spec as it is now.
func isCurrent(application *v1.Application) bool {
	return application.Status.ObservedGeneration == application.Generation
}

// allWell reports whether the Application works as its current spec says, with as many pods, and so do its children.
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

// lacksMetrics reports whether the autoscaler has nothing to decide by: the cluster has no metrics server.
func lacksMetrics(application *v1.Application) bool {
	active := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAutoscalingActive)
	return active != nil && active.Status == metav1.ConditionFalse && active.Reason == "FailedGetResourceMetric"
}
