// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"

	policyv1 "k8s.io/api/policy/v1"

	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
)

// blockedDrains finds a budget that lets no pod go, because another client sets the number of pods, and there are too few.
func blockedDrains(f facts) []Finding {
	needed := validation.PodsForDrain(&f.app.Spec)
	budget := child.Get[*policyv1.PodDisruptionBudget](f.Snapshot(), child.PodDisruptionBudget, f.app.Name)
	if needed == 0 || budget == nil || !child.OwnedBy(budget, f.app) || f.app.DeletionTimestamp != nil {
		return nil
	}
	status := budget.Status
	if status.ObservedGeneration != budget.Generation || status.DisruptionsAllowed > 0 || status.ExpectedPods == 0 || int64(status.ExpectedPods) >= needed {
		return nil
	}
	what := "The disruption budget keeps the only pod, so its node cannot be drained."
	if status.ExpectedPods > 1 {
		what = fmt.Sprintf("The disruption budget keeps all %d pods, so no node that runs one can be drained.", status.ExpectedPods)
	}
	return []Finding{{
		Reason: "DrainsBlocked", What: what,
		Evidence: []Evidence{{
			Object: child.PodDisruptionBudget.Kind + "/" + budget.Name, Field: "status.disruptionsAllowed",
			Message: fmt.Sprintf("0, while minAvailable is %s", budget.Spec.MinAvailable),
		}},
		Next: []string{
			fmt.Sprintf("Run at least %d pods: set spec.replicas, or the minimum of the autoscaler that scales the Deployment.", needed),
			"Or remove spec.disruptionBudget: the default fits any number of pods.",
		},
	}}
}
