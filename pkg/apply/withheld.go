// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import "fairlead.dev/fairlead/pkg/plan"

// withheld is the step as it is to be done after the results so far: unchanged, or as one that waits.
//
// The plan says what each step depends on. Only the writer can meet an object that the informers do not
// show, for lack of the label that they select by.
func withheld(step plan.Step, results []plan.Result) plan.Step {
	if target, found := step.Unowned(results); found {
		return step.AwaitOwned(target)
	}
	return step
}
