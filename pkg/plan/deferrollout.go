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

// deferRollout makes the steps wait that would start new pods while something that the pods need is missing. Running pods
// stay as they are, and steps that replace no pods go on: a user can scale an Application to 0 after its Secret was
// deleted, even by an edit that changes the pods too.
//
// A new autoscaler waits with its Deployment, because its creation hands replicas over. So does a revision: pods that never
// ran are no history.
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

// scaleOnly returns the part of a Deployment's step that need not wait with its pods: their number, if the Application sets
// it and it differs from the live one.
func scaleOnly(in Input, step Step) Step {
	scaled := step.wait(in.Missing)
	replicas := RenderedReplicas(step.Desired)
	live, ok := step.Live.(*appsv1.Deployment)
	if !ok || replicas == nil || live.Spec.Replicas != nil && *live.Spec.Replicas == *replicas {
		return scaled
	}
	scaled.Action, scaled.HandOver = Scale, replicas
	// The hash of the rendering is written with the pods, so only the memory knows who changed the number.
	scaled.Drift = in.LastApplied[step.Ref] == scaled.Rendering()
	return backOff(scaled, in.InBackoff)
}

// Rendering is the hash of what a write applies: of the rendered child, or of the part that Scale writes.
func (s Step) Rendering() string {
	if s.Action == Scale {
		return "replicas of " + s.Desired.Hash
	}
	return s.Desired.Hash
}

// startsPods reports whether a step on a Deployment creates it, changes its pod template, or ends a pause. A repair of the template does
// not count: the pods of the repaired template have run before.
func startsPods(step Step) bool {
	if step.Action == Create {
		return true
	}
	if step.Action != Apply || step.Drift {
		return false
	}
	// What a pause held back begins when it ends.
	live, ok := step.Live.(*appsv1.Deployment)
	if ok && live.Spec.Paused && slices.Contains(step.Fields, ".spec.paused") {
		return true
	}
	// If a field is no longer rendered, only the hash of all fields shows it. It may be a field of the pods.
	const (
		hash     = ".metadata.annotations." + v1.AnnotationRenderedHash
		revision = ".metadata.annotations." + v1.AnnotationRevision
	)
	return slices.ContainsFunc(step.Fields, func(field string) bool { return strings.HasPrefix(field, ".spec.template") || field == revision }) ||
		slices.Equal(step.Fields, []string{hash})
}
