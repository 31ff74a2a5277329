// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestBlockedDrains: a budget that keeps all pods of an open number is worth knowing, and is no other client's fault.
func TestBlockedDrains(t *testing.T) {
	const (
		only = "The disruption budget keeps the only pod, so its node cannot be drained.\n" +
			"   - PodDisruptionBudget/cart status.disruptionsAllowed: 0, while minAvailable is 1\n" +
			"   → Run at least 2 pods: set spec.replicas, or the minimum of the autoscaler that scales the Deployment.\n" +
			"   → Or remove spec.disruptionBudget: the default fits any number of pods.\n"
		both = "The disruption budget keeps all 2 pods, so no node that runs one can be drained.\n"
		all  = "disruption budget keeps"
	)
	for _, test := range []struct {
		name          string
		replicas      *int32
		minAvailable  string
		pods, allowed int32
		want          map[string]bool
	}{
		{"the only pod", nil, "1", 1, 0, map[string]bool{only: true}},
		{"both pods", nil, "60%", 2, 0, map[string]bool{both: true}},
		{"one may go", nil, "1", 2, 1, map[string]bool{all: false}},
		{"a pod is not healthy", nil, "1", 2, 0, map[string]bool{all: false}},
		{"no pods", nil, "1", 0, 0, map[string]bool{all: false}},
		{"a fixed number", new(int32(3)), "1", 1, 0, map[string]bool{all: false}},
	} {
		loaded := clustertest.Load(t, "healthy")
		minAvailable := intstr.Parse(test.minAvailable)
		loaded.Application.Spec.Replicas = test.replicas
		loaded.Application.Spec.DisruptionBudget = &v1.DisruptionBudget{Mode: v1.DisruptionBudgetCustom, MinAvailable: &minAvailable}
		budget := childOf(t, loaded, child.PodDisruptionBudget.Kind).(*policyv1.PodDisruptionBudget)
		budget.Spec.MinAvailable = &minAvailable
		budget.Status.ExpectedPods, budget.Status.DisruptionsAllowed = test.pods, test.allowed
		text, _ := printed(t, loaded)
		wantParts(t, test.name, text, test.want)
	}
}
