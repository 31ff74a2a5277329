// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
)

// RolloutBefore is a rollout for whose end the adoption of a Deployment waits.
type RolloutBefore struct {
	InProgress bool
	Stops      string // What keeps it from its end; "" if it goes on without the user.
	Next       string // What the user then does.
}

// RolloutBeforeAdoption returns the rollout of a Deployment, as the controller sees it. While the status is of an earlier generation, it says
// nothing about that.
func RolloutBeforeAdoption(deployment *appsv1.Deployment) RolloutBefore {
	status := &deployment.Status
	if status.ObservedGeneration < deployment.Generation || status.UpdatedReplicas == status.Replicas {
		return RolloutBefore{}
	}
	on := " deployment/" + deployment.Name
	switch {
	case deployment.Spec.Paused:
		return RolloutBefore{true, "is paused", "Let its rollout go on, which replaces pods: kubectl rollout resume" + on}
	case slices.ContainsFunc(status.Conditions, func(condition appsv1.DeploymentCondition) bool {
		return condition.Type == appsv1.DeploymentProgressing && condition.Reason == health.ReasonTimedOut
	}):
		return RolloutBefore{true, "does not advance", "Correct the pod template of the Deployment, or return to the one before: kubectl rollout undo" + on}
	default:
		return RolloutBefore{InProgress: true}
	}
}

// rolloutBefore is what the user does about the rollout for which the adoption of a Deployment waits; nil if it needs nothing.
func (f facts) rolloutBefore(live child.Object) []string {
	deployment, ok := live.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	rollout := RolloutBeforeAdoption(deployment)
	switch {
	case rollout.Next == "":
		return nil
	case f.Saved:
		return []string{rollout.Next, "Or take the adoption back: kubectl fairlead adopt " + f.app.Name + " --abort"}
	default:
		return []string{rollout.Next}
	}
}
