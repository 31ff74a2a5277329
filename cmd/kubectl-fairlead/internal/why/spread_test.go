// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestSpread: the scheduler keeps the pods off because of their topologySpreadConstraints.
func TestSpread(t *testing.T) {
	const (
		spread  = "   → Compare spec.topologySpreadConstraints with the labels of the nodes, and with where the pods run: kubectl get nodes --show-labels\n"
		anyway  = "   → Or let the scheduler pass over a constraint that no node meets: set its whenUnsatisfiable to ScheduleAnyway.\n"
		compare = "   → Compare resources, nodeSelector, affinity and tolerations of the spec with the nodes: kubectl describe nodes\n"
		size    = "If it is the size"
	)
	for message, want := range map[string]map[string]bool{
		"0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.": {
			spread: true, anyway: true, compare: false, size: false,
		},
		"0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints (missing required label).": {spread: true, anyway: true, compare: false},
		"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod topology spread constraints.":      {spread: true, compare: true, size: true},
		"0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 node(s) didn't match pod topology spread constraints.": {
			spread: true, compare: true, size: false,
		},
		"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.": {spread: false, compare: true, size: false},
	} {
		loaded := clustertest.Load(t, "unschedulable")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonUnschedulable, Message: message, Pods: 2}}
		wantParts(t, message, shown(t, loaded), want)
	}
}
