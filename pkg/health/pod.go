// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"time"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// WorstOfPod returns the worst problem of one pod, or nil if it has none that counts yet.
func WorstOfPod(problems *child.PodProblems, now time.Time) *v1.Problem {
	if problems == nil {
		return nil
	}
	found := group(due(diagnose(problems), now))
	if len(found) == 0 {
		return nil
	}
	severity := ReasonsBySeverity()
	worst := slices.MinFunc(found, func(a, b v1.Problem) int {
		return slices.Index(severity, a.Reason) - slices.Index(severity, b.Reason)
	})
	return &worst
}
