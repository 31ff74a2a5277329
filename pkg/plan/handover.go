// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// handOverReplicas finds out which number of replicas the autoscaler, or a person, is to start
// from, where the Deployment is rendered without one.
//
// Server-side apply removes a field that its only owner leaves out, and a Deployment without
// replicas means 1. So a number that Fairlead owned is first given to another field manager
// (see pkg/apply), and only then left out. A new Deployment starts with the autoscaler's
// minReplicas, not with 1. And since an autoscaler never wakes a Deployment at 0, switching it on
// raises the Deployment to minReplicas, once.
func handOverReplicas(snapshot child.Snapshot, steps []Step) {
	index := slices.IndexFunc(steps, func(s Step) bool { return s.Ref.Kind == child.Deployment && s.Action != Delete })
	if index < 0 || RenderedReplicas(steps[index].Desired) != nil {
		return
	}
	step := &steps[index]
	switch step.Action {
	case Create:
		if autoscales(steps, Create, Apply, Keep) {
			step.HandOver = minReplicas(snapshot.Application)
		}
	case Apply, Keep:
		deployment, ok := step.Live.(*appsv1.Deployment)
		if !ok || deployment.Spec.Replicas == nil {
			return
		}
		switch {
		case *deployment.Spec.Replicas == 0 && switchesOn(steps):
			step.HandOver = minReplicas(snapshot.Application)
			step.Action = Apply
			step.Reason = "an autoscaler does not wake a Deployment at 0"
		case step.Action == Apply && deployment.Annotations[v1.AnnotationReplicasManaged] != "":
			step.HandOver = deployment.Spec.Replicas
		}
	}
}

// autoscales reports whether there is an autoscaler for which one of the actions is planned.
func autoscales(steps []Step, actions ...Action) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		return s.Ref.Kind == child.HorizontalPodAutoscaler && slices.Contains(actions, s.Action)
	})
}

// switchesOn reports whether autoscaling begins. Putting an autoscaler back that others deleted is
// not that: a user may have scaled the Deployment to 0 for the night.
func switchesOn(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		return s.Ref.Kind == child.HorizontalPodAutoscaler && s.Action == Create && !s.Drift
	})
}

// minReplicas is what the autoscaler would not go below, but at least 1.
func minReplicas(application *v1.Application) *int32 {
	minimum := int32(1)
	if a := application.Spec.Autoscaling; a != nil && a.MinReplicas != nil {
		minimum = max(minimum, *a.MinReplicas)
	}
	return &minimum
}

// RenderedReplicas is the number of pods that a rendered Deployment asks for; nil leaves it to others.
func RenderedReplicas(desired *child.Desired) *int32 {
	spec, _ := fieldsOf(desired.Configuration).get("spec")
	replicas, found := spec.get("replicas")
	if !found || !replicas.CanInt() {
		return nil
	}
	return new(int32(replicas.Int()))
}
