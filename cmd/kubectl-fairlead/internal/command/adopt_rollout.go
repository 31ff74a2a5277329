// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
)

// checkRollout refuses a Deployment whose rollout does not end without the user: the controller would wait for that, and the backup would have
// a pod template that never ran.
func (a *adopting) checkRollout(deployment *appsv1.Deployment) error {
	rollout := why.RolloutBeforeAdoption(deployment)
	if rollout.Stops == "" {
		return nil
	}
	back := ""
	if adopt.IsMarked(deployment) {
		back = ", or take all of it back with --abort"
	}
	return errors.New(a.tool.withNamespace(a.namespace, fmt.Sprintf("a rollout of the Deployment %s %s, and no Application adopts it before the rollout is complete. %s. Then run the command again%s",
		a.name, rollout.Stops, rollout.Next, back)))
}

// announceRolloutBefore says what the adoption waits for, and that it ends a pause.
func (a *adopting) announceRolloutBefore() {
	rollout := why.RolloutBeforeAdoption(a.deployment)
	switch to := a.tool.screen(); {
	case rollout.Stops != "": // That is an error.
	case rollout.InProgress:
		to.Hanging("  ! ", "A rollout of the Deployment is in progress. The Application adopts it once that is complete.")
	case a.deployment.Spec.Paused:
		to.Hanging("  ! ", "The Deployment is paused, as by kubectl rollout pause. --rollout ends that pause.")
	}
}
