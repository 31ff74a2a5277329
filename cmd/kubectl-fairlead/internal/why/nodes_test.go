// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestClosedNodes advises to change the spec only where the spec keeps nodes out.
func TestClosedNodes(t *testing.T) {
	const (
		compare  = "Compare resources, nodeSelector, affinity and tolerations of the spec with the nodes: kubectl describe nodes"
		uncordon = "Nodes are cordoned, as for maintenance: kubectl get nodes. Ask the platform team when it ends, or let a node take pods again: kubectl uncordon NODE"
		volume   = "The volume of PersistentVolumeClaim data exists on certain nodes only, and these are gone or do not take the pods. Find them under Node Affinity: kubectl describe persistentvolumes"
		help     = " preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
	)
	for message, want := range map[string][]string{
		"0/3 nodes are available: 3 node(s) were unschedulable." + help:                                                          {uncordon},
		"0/3 nodes are available: 3 node(s) didn't match PersistentVolume's node affinity." + help:                               {volume},
		"0/3 nodes are available: 3 node(s) had volume node affinity conflict." + help:                                           {volume},
		"0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match PersistentVolume's node affinity." + help: {uncordon, volume},
		"0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector." + help:     {uncordon, compare},
		"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector." + help:                                   {compare},
	} {
		loaded := clustertest.Load(t, "unschedulable")
		for _, pod := range loaded.Pods {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
			}})
		}
		loaded.Application.Status.Problems = []v1.Problem{{Reason: v1.ReasonUnschedulable, Message: message, Pods: 1}}
		if next := why.Explain(loaded).Findings[0].Next; !slices.Equal(next, want) {
			t.Errorf("%s: %q, want %q", message, next, want)
		}
	}
}
