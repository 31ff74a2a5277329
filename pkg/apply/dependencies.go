// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// The plan says on what each step depends. Only the writer learns how that ended.

// dependsOn returns the step to execute instead of one whose dependency did not succeed. It is nil if the planned
// step may run.
func dependsOn(step plan.Step, results []plan.Result) *plan.Step {
	if target, found := step.Unowned(results); found {
		instead := step.WaitOwned(target)
		return &instead
	}
	if step.After != nil && !isApplied(results, *step.After) {
		step.Action, step.Reason = plan.WaitDependency, step.After.String()+", which takes its place, does not exist yet"
		return &step
	}
	return nil
}

// isApplied reports whether the child now has its rendered state.
func isApplied(results []plan.Result, ref child.Ref) bool {
	return slices.ContainsFunc(results, func(result plan.Result) bool {
		if result.Ref != ref || result.Err != nil {
			return false
		}
		switch result.Done().Action {
		case plan.Keep, plan.Create, plan.Apply:
			return true
		default:
			return false
		}
	})
}

// handedOver returns why a new autoscaler cannot be created yet: its Deployment lacks the number from which to start.
// Once the autoscaler exists, no plan knows any more that autoscaling was only just enabled.
func handedOver(step plan.Step, results []plan.Result) error {
	if step.Action != plan.Create || step.Ref.Kind != child.HorizontalPodAutoscaler {
		return nil
	}
	for _, result := range results {
		if result.Action == plan.Apply && result.HandOver != nil && result.Err != nil {
			return fmt.Errorf("create %s after its Deployment: %w", step.Ref, result.Err)
		}
	}
	return nil
}
