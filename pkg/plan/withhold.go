// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Withhold turns the steps that would start new pods into Await, because something that the pods
// need is missing; missing says what. Running pods are left as they are, and whatever does not
// replace pods is still done: an Application whose Secret was deleted can be scaled to 0.
//
// A new autoscaler waits with its Deployment, since its creation is what hands replicas over. So does a
// revision: what never ran is no history.
func Withhold(steps []Step, missing string) []Step {
	index := slices.IndexFunc(steps, func(s Step) bool { return s.Ref.Kind == child.Deployment && startsPods(s) })
	if missing == "" || index < 0 {
		return steps
	}
	withheld := slices.Clone(steps)
	for i := range withheld {
		step := &withheld[i]
		autoscaler := step.Ref.Kind == child.HorizontalPodAutoscaler && step.Action == Create && !step.Drift
		revision := step.Ref.Kind == child.ControllerRevision && (step.Action == Create || step.Action == Apply)
		if i == index || autoscaler || revision {
			step.Action = Await
			step.Reason = missing
		}
	}
	return withheld
}

// startsPods tells whether a step on a Deployment creates it, or changes its pod template. To undo
// what others did to the template is no such change: the pods that it goes back to have run before.
func startsPods(step Step) bool {
	if step.Action == Create {
		return true
	}
	if step.Action != Apply || step.Drift {
		return false
	}
	// Of a field that only went away nothing is left to compare but the hash of all of them. It may
	// have been one of the pods'.
	const (
		hash     = ".metadata.annotations." + v1.AnnotationRenderedHash
		revision = ".metadata.annotations." + v1.AnnotationRevision
	)
	return slices.ContainsFunc(step.Fields, func(field string) bool { return strings.HasPrefix(field, ".spec.template") || field == revision }) ||
		slices.Equal(step.Fields, []string{hash})
}
