// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Reasons of the Deployment's condition Progressing. Kubernetes has no constants for them outside of its
// controller.
const (
	// ReasonRolledOut means that a rollout was complete. It stays until the next one begins; pods that fail later leave it.
	ReasonRolledOut = "NewReplicaSetAvailable"
	// ReasonReplicaSetCreateError means that the API server refuses the ReplicaSet of the rollout. The condition replaces the
	// one of the rollout before. The Deployment controller does not write the generation that it failed with, unless the
	// Deployment is scaled meanwhile. The condition stays until it has tried again.
	ReasonReplicaSetCreateError = "ReplicaSetCreateError"
)

// LacksReplicaSet reports whether the API server refuses the ReplicaSet of a Deployment's rollout. Until there is one, the Deployment has
// the number of the rollout before, as the ReplicaSet of that has.
func LacksReplicaSet(deployment *appsv1.Deployment) bool {
	status := &deployment.Status
	asksForPods := deployment.Spec.Replicas == nil || *deployment.Spec.Replicas > 0
	isPresent := status.ObservedGeneration < deployment.Generation || status.UpdatedReplicas == 0 && asksForPods
	return isPresent && slices.ContainsFunc(status.Conditions, func(condition appsv1.DeploymentCondition) bool {
		return condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse && condition.Reason == ReasonReplicaSetCreateError
	})
}
