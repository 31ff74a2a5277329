// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
)

// Unfinished is the number of pods that the rollout of a Deployment has not replaced yet: Kubernetes goes on with it, whatever
// reconcilePolicy says. It is -1 if Kubernetes has not observed the last change, so that the Deployment does not say.
func Unfinished(deployment *appsv1.Deployment) int32 {
	spec, status := &deployment.Spec, &deployment.Status
	switch {
	case spec.Paused, deployment.DeletionTimestamp != nil, spec.Replicas != nil && *spec.Replicas == 0:
		return 0
	case status.ObservedGeneration < deployment.Generation:
		return -1
	}
	return max(0, status.Replicas-status.UpdatedReplicas)
}

// GoesOn is the sentence about so many unfinished pods of all that run; "" if there are none. It follows another sentence. Kubernetes
// replaces none of them while the new ones fail. With strategy Recreate it does not wait for the new ones.
func GoesOn(unfinished, live int32, strategy appsv1.DeploymentStrategyType) string {
	if unfinished < 0 {
		return " A rollout that has begun goes on."
	}
	one, several := ", once a new one is ready.", ", as new ones become ready."
	if strategy == appsv1.RecreateDeploymentStrategyType {
		one, several = ".", "."
	}
	const goesOn = " The rollout that has begun goes on: Kubernetes replaces "
	switch {
	case unfinished == 0:
		return ""
	case unfinished >= live && unfinished == 1:
		return goesOn + "the pod" + one
	case unfinished >= live:
		return goesOn + fmt.Sprintf("all %d pods", unfinished) + several
	case unfinished == 1:
		return goesOn + "the other pod" + one
	}
	return goesOn + fmt.Sprintf("the other %d pods", unfinished) + several
}
