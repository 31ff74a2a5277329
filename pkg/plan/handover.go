// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// handOverReplicas decides with how many replicas an autoscaler or a user starts, if the Deployment is rendered without a
// number.
//
// Server-side apply removes a field that its only owner omits, and a Deployment without replicas gets 1. So Fairlead first
// hands its number to another field manager (see pkg/apply), and only then omits it. A new Deployment starts with the
// autoscaler's minReplicas, not with 1. An autoscaler never scales a Deployment up from 0, so enabling it once raises the
// Deployment to minReplicas.
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

// switchesOn reports whether the plan enables autoscaling. The repair of a deleted autoscaler does not count: a user may have
// scaled the Deployment to 0 for the night.
func switchesOn(steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		return s.Ref.Kind == child.HorizontalPodAutoscaler && s.Action == Create && !s.Drift
	})
}

// minReplicas is the autoscaler's minimum, but at least 1.
func minReplicas(application *v1.Application) *int32 {
	minimum := int32(1)
	if a := application.Spec.Autoscaling; a != nil && a.MinReplicas != nil {
		minimum = max(minimum, *a.MinReplicas)
	}
	return &minimum
}

// InitialReplicas is the number of pods with which a new Deployment of the Application starts. What a client set on a Deployment that is
// gone does not come back.
func InitialReplicas(application *v1.Application) int32 {
	switch spec := application.Spec; {
	case spec.Autoscaling != nil && spec.Autoscaling.MaxReplicas == 0:
		return 0
	case spec.Autoscaling != nil || spec.Replicas == nil:
		return *minReplicas(application)
	default:
		return *spec.Replicas
	}
}

// RenderedReplicas is the number of pods that a rendered Deployment asks for; nil leaves the number to an autoscaler or a user.
func RenderedReplicas(desired *child.Desired) *int32 {
	spec, _ := fieldsOf(desired.Configuration).get("spec")
	replicas, found := spec.get("replicas")
	if !found || !replicas.CanInt() {
		return nil
	}
	return new(int32(replicas.Int()))
}
