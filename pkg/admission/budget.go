// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

// blockedDrains returns a warning for a budget that lets no pod go while there are as few as pods. It is a warning, because a spec that
// leaves the number of pods open is for clients that scale the Deployment, and they may scale it up next.
func blockedDrains(spec *v1.ApplicationSpec, pods int32) []string {
	needed := validation.PodsForDrain(spec)
	if needed == 0 || int64(pods) >= needed {
		return nil
	}
	present, keep := "without replicas there is 1 until another client scales the Deployment", ""
	switch {
	case pods == 1:
		present = "now there is 1"
	case pods > 1:
		present = fmt.Sprintf("now there are %d", pods)
	}
	if pods > 0 {
		keep = ", have the client that scales the Deployment keep as many"
	}
	return []string{fmt.Sprintf("disruptionBudget.minAvailable: %s blocks every drain of a node while there are fewer than %d pods, and %s: set replicas to %[2]d or more%[4]s, "+
		"or remove disruptionBudget", spec.DisruptionBudget.MinAvailable, needed, present, keep)}
}
