// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// conditions returns all conditions in a stable order, Ready first. Other conditions no longer apply and disappear.
func conditions(in Input, children []assessment, p pods, s summary, now time.Time) []metav1.Condition {
	application := in.Snapshot.Application
	var next []metav1.Condition
	add := func(kind string, condition metav1.Condition) {
		condition.Type = kind
		next = append(next, condition)
	}
	add(v1.ConditionReady, metav1.Condition{Status: statusOf(s.ready), Reason: s.reason, Message: s.message})
	stage := cmp.Or(s.stage, s.reason)
	if s.reconciling {
		add(v1.ConditionReconciling, metav1.Condition{Status: metav1.ConditionTrue, Reason: stage, Message: s.message})
	}
	if s.stalled {
		add(v1.ConditionStalled, metav1.Condition{Status: metav1.ConditionTrue, Reason: stage, Message: s.message})
	}
	add(v1.ConditionAvailable, p.available())
	add(v1.ConditionProgressing, p.progressing())
	if routes, ok := routesReady(in, children); ok {
		add(v1.ConditionRoutesReady, routes)
	}
	if monitoring, ok := monitoringReady(in, children); ok {
		add(v1.ConditionMonitoringReady, monitoring)
	}
	if autoscaling, ok := autoscalingActive(in); ok {
		add(v1.ConditionAutoscalingActive, autoscaling)
	}
	if isPaused(application) && (!slices.Contains(v1.RefusalReasons, s.reason) || !p.runsOn()) {
		add(v1.ConditionPaused, metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonPaused, Message: "spec.paused stops rollouts."})
	}
	if rolledBack, ok := rolledBack(in, p); ok {
		add(v1.ConditionRolledBack, rolledBack)
	}
	if watched, ok := configWatched(in); ok {
		add(v1.ConditionConfigWatched, watched)
	}
	if adopted, ok := adopted(in, p); ok {
		add(v1.ConditionAdopted, adopted)
	}
	if drift, ok := drifted(in, children); ok {
		add(v1.ConditionDrifted, drift)
	}

	transition := metav1.NewTime(now).Rfc3339Copy() // The precision with which the API server returns it.
	var list []metav1.Condition
	for _, condition := range next {
		condition.Reason = reasonOf(condition.Reason)
		condition.Message = bounded(condition.Message)
		condition.ObservedGeneration = application.Generation
		condition.LastTransitionTime = transition
		if old := meta.FindStatusCondition(application.Status.Conditions, condition.Type); old != nil && !beginsToFail(*old, condition) {
			list = append(list, *old)
		}
		meta.SetStatusCondition(&list, condition)
	}
	return list
}

func statusOf(b bool) metav1.ConditionStatus {
	if b {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// previous returns the last written condition, for conditions that need a plan.
func previous(in Input, kind string) (metav1.Condition, bool) {
	if old := meta.FindStatusCondition(in.Snapshot.Application.Status.Conditions, kind); old != nil {
		return metav1.Condition{Status: old.Status, Reason: old.Reason, Message: old.Message}, true
	}
	return metav1.Condition{}, false
}

// drifted counts the differences that reconcilePolicy Observe leaves.
func drifted(in Input, children []assessment) (metav1.Condition, bool) {
	if !in.observing() {
		return metav1.Condition{}, false
	}
	if !in.planned() {
		return previous(in, v1.ConditionDrifted)
	}
	differing, missing, superfluous, unsure := 0, 0, 0, false
	for _, a := range children {
		switch {
		case a.state != v1.ResourceDrifted:
		case a.Desired == nil:
			superfluous++
		case a.Live == nil:
			missing++
			unsure = unsure || mayBeForeign(in, a.Result)
		default:
			differing++
		}
	}
	if differing+missing+superfluous == 0 {
		return metav1.Condition{}, false
	}
	return metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonDrifted, Message: withheld(differing, missing, superfluous, unsure)}, true
}

// withheld says what the controller would do about the differences. unsure says that an object of another owner may have the name of a
// missing one.
func withheld(differing, missing, superfluous int, unsure bool) string {
	var steps []string
	for _, step := range []struct {
		verb string
		n    int
	}{{"change", differing}, {"delete", superfluous}, {"create", missing}} {
		switch {
		case step.n == 0:
		case len(steps) > 0:
			steps = append(steps, fmt.Sprintf("%s %d", step.verb, step.n))
		case step.n == 1:
			steps = append(steps, step.verb+" 1 object")
		default:
			steps = append(steps, fmt.Sprintf("%s %d objects", step.verb, step.n))
		}
	}
	message := "Fairlead would " + text.Enumerate(steps)
	switch {
	case unsure && missing == 1:
		message += ", unless one of that name exists"
	case unsure:
		message += ", unless objects of those names exist"
	}
	return message + "."
}
