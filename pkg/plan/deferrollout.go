// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// deferRollout makes the steps wait that would start new pods while something that the pods need is
// missing. Running pods are left as they are, and whatever does not replace pods is still done: an
// Application whose Secret was deleted can be scaled to 0, even by an edit that changes the pods too.
//
// A new autoscaler waits with its Deployment, since its creation is what hands replicas over. So does a
// revision: what never ran is no history.
func deferRollout(in Input, steps []Step) {
	index := slices.IndexFunc(steps, func(s Step) bool { return s.Ref.Kind == child.Deployment && startsPods(s) })
	if in.Missing == "" || index < 0 {
		return
	}
	for i := range steps {
		step := &steps[i]
		autoscaler := step.Ref.Kind == child.HorizontalPodAutoscaler && step.Action == Create && !step.Drift
		revision := step.Ref.Kind == child.ControllerRevision && (step.Action == Create || step.Action == Apply)
		if autoscaler || revision {
			*step = step.wait(in.Missing)
		}
	}
	steps[index] = scaleOnly(in, steps[index])
}

// scaleOnly is what is left of a Deployment's step whose pods wait: their number, where the Application
// sets it and the live one is another.
func scaleOnly(in Input, step Step) Step {
	scaled := step.wait(in.Missing)
	replicas := RenderedReplicas(step.Desired)
	live, ok := step.Live.(*appsv1.Deployment)
	if !ok || replicas == nil || live.Spec.Replicas != nil && *live.Spec.Replicas == *replicas {
		return scaled
	}
	scaled.Action, scaled.HandOver = Scale, replicas
	// The hash of the rendering comes with the pods, so that only the memory tells who changed the number.
	scaled.Drift = in.LastApplied[step.Ref] == scaled.Rendering()
	return backOff(scaled, in.InBackoff)
}

// Rendering is what a write brings the child to: the hash of what was rendered, or of the part that
// Scale writes.
func (s Step) Rendering() string {
	if s.Action == Scale {
		return "replicas of " + s.Desired.Hash
	}
	return s.Desired.Hash
}

// startsPods reports whether a step on a Deployment creates it, or changes its pod template. To undo
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
