// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestStopFirst: where old pods have the nodes that the new ones need, no node and no size helps, but a rollout that stops one first.
func TestStopFirst(t *testing.T) {
	const (
		affinity = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."
		ports    = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
		several  = "   → Or let the rollout first stop an old pod that has the place: set maxSurge 0 and maxUnavailable 1 in spec.strategy.rollingUpdate.\n"
		only     = "   → Or let the rollout first stop an old pod that has the place, although none serves then until the new one does: set maxSurge 0 and maxUnavailable 1 in spec.strategy.rollingUpdate.\n"
		all      = "stop an old pod"
		size     = "If it is the size"
	)
	rolling := func(surge, unavailable string) *appsv1.RollingUpdateDeployment {
		return &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.Parse(surge)), MaxUnavailable: new(intstr.Parse(unavailable))}
	}
	for _, test := range []struct {
		name, message string
		replicas, all int32
		rolling       *appsv1.RollingUpdateDeployment
		want          map[string]bool
	}{
		{"anti-affinity", affinity, 3, 4, rolling("1", "0"), map[string]bool{several: true, size: false}},
		{"a port of the node", ports, 3, 4, rolling("25%", "25%"), map[string]bool{several: true, size: false}},
		{"the only pod", affinity, 1, 2, rolling("25%", "25%"), map[string]bool{only: true}},
		{"by default", affinity, 1, 2, nil, map[string]bool{only: true}},
		{"the rollout goes on", affinity, 4, 5, rolling("25%", "25%"), map[string]bool{all: false, size: false}},
		{"no old pods", affinity, 3, 1, rolling("1", "0"), map[string]bool{all: false, size: false}},
		{"stops one already", affinity, 3, 4, rolling("0", "1"), map[string]bool{all: false}},
		{"the size too", "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't match pod anti-affinity rules.", 3, 4, rolling("1", "0"), map[string]bool{size: true, all: false}},
	} {
		loaded := clustertest.Load(t, "unschedulable")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonUnschedulable, Message: test.message, Pods: 1}}
		deployment := childOf(t, loaded, child.Deployment.Kind).(*appsv1.Deployment)
		deployment.Spec.Replicas, deployment.Spec.Strategy.RollingUpdate = &test.replicas, test.rolling
		deployment.Status.Replicas, deployment.Status.UpdatedReplicas = test.all, 1
		text, _ := printed(t, loaded)
		wantParts(t, test.name, text, test.want)
	}
}
