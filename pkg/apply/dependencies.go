// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// The plan says what each step depends on. Only the writer learns what became of that.

// dependsOn returns the step that is done instead because another one did not succeed; nil if the planned one may be
// done.
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

// isApplied reports whether the child is as it should be by now.
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

// handedOver is why a new autoscaler cannot be created yet: its Deployment does not have the number to start from. Once
// the autoscaler exists, no plan can tell any more that autoscaling was switched on just now.
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
