// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// autoscalingActive mirrors the autoscaler's conditions AbleToScale, if it is False, and ScalingActive.
func autoscalingActive(in Input) (metav1.Condition, bool) {
	if _, had := previous(in, v1.ConditionAutoscalingActive); !in.Autoscaled && (in.planned() || !had) {
		return metav1.Condition{}, false
	}
	application := in.Snapshot.Application
	ref := child.Ref{Kind: child.HorizontalPodAutoscaler, Namespace: application.Namespace, Name: application.Name}
	live := child.Get[*autoscalingv2.HorizontalPodAutoscaler](in.Snapshot, ref.Kind, ref.Name)
	if result, ok := in.result(ref); ok && result.Action == plan.NotOwned {
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1.ReasonAutoscalerNotFound, Message: "HorizontalPodAutoscaler " + ref.Name + " is not the Application's."}, true
	}
	if live == nil || !in.owns(ref) {
		return metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1.ReasonAutoscalerNotFound, Message: "There is no HorizontalPodAutoscaler yet."}, true
	}
	var active *autoscalingv2.HorizontalPodAutoscalerCondition
	for i := range live.Status.Conditions {
		condition := &live.Status.Conditions[i]
		switch {
		case condition.Type == autoscalingv2.AbleToScale && condition.Status == corev1.ConditionFalse:
			return mirrorAutoscaler(condition), true
		case condition.Type == autoscalingv2.ScalingActive:
			active = condition
		}
	}
	if active != nil {
		return mirrorAutoscaler(active), true
	}
	return metav1.Condition{Status: metav1.ConditionUnknown, Reason: v1.ReasonUnknown, Message: "The HorizontalPodAutoscaler has not reported it yet."}, true
}

func mirrorAutoscaler(source *autoscalingv2.HorizontalPodAutoscalerCondition) metav1.Condition {
	return metav1.Condition{Status: metav1.ConditionStatus(source.Status), Reason: source.Reason, Message: source.Message}
}

// disabledAutoscaler reports whether 0 replicas of the Deployment disable its autoscaler. One whose minReplicas is 0 scales it up.
func disabledAutoscaler(in Input) bool {
	if !in.Autoscaled || minReplicas(in.Snapshot.Application) == 0 {
		return false
	}
	// A sync creates a missing autoscaler, unless it only observes. Then nothing has taken over the number.
	return !in.observing() || in.owns(child.Ref{
		Kind: child.HorizontalPodAutoscaler, Namespace: in.Snapshot.Application.Namespace, Name: in.Snapshot.Application.Name,
	})
}

// summarizeDisabledAutoscaler is the summary of a Deployment that stays without pods until a user acts, although the spec asks for
// some: Fairlead leaves the number to the autoscaler. That another client set it is likely, but the autoscaler did so itself if
// minReplicas was 0 before.
func summarizeDisabledAutoscaler(in Input, p pods) summary {
	return summary{
		stalled: true, reason: v1.ReasonPodsUnavailable, cause: "Scaled to 0, where the autoscaler does nothing.",
		message: fmt.Sprintf("The Deployment was scaled to 0, where its autoscaler does nothing. To let it scale again: kubectl scale deployment %s --replicas=%d",
			p.ref.Name, minReplicas(in.Snapshot.Application)),
	}
}

// minReplicas is the minimum of the autoscaler, by default 1.
func minReplicas(application *v1.Application) int32 {
	if autoscaling := application.Spec.Autoscaling; autoscaling != nil && autoscaling.MinReplicas != nil {
		return *autoscaling.MinReplicas
	}
	return 1
}
