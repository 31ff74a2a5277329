// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestVolumeUsedElsewhere: the claim exists and is bound, and another pod uses it.
func TestVolumeUsedElsewhere(t *testing.T) {
	const (
		oncePod  = "Another pod uses a PersistentVolumeClaim of access mode ReadWriteOncePod, which admits one pod, so no node takes the pods. This concerns"
		attached = "The pods have a node, but a volume of theirs is attached to another one, and can be attached to one at a time. This concerns"
		single   = "   → Run a single pod, and stop it before the next one starts: set replicas 1 and strategy.type Recreate in the spec.\n"
		once     = "   → Or use a claim of another access mode, such as ReadWriteOnce for pods on one node: kubectl get persistentvolumeclaims\n"
		many     = "   → Or use a claim of access mode ReadWriteMany, if its storage class can: kubectl get persistentvolumeclaims\n"
		create   = "Create the PersistentVolumeClaim"
		multi    = `Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) web-1`
		mounting = "Unable to attach or mount volumes: timed out waiting for the condition"
	)
	for _, test := range []struct {
		name, reason, message, event string
		want                         map[string]bool
	}{
		{"ReadWriteOncePod", v1.ReasonUnschedulable,
			"0/1 nodes are available: 1 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.", "",
			map[string]bool{oncePod: true, single: true, once: true, create: false}},
		{"ReadWriteOnce on two nodes", v1.ReasonVolumeNotMounting, "ContainerCreating", multi, map[string]bool{attached: true, single: true, many: true}},
		{"another cause", v1.ReasonVolumeNotMounting, "ContainerCreating", mounting, map[string]bool{attached: false, single: false}},
	} {
		loaded := clustertest.Load(t, "unschedulable")
		loaded.Application.Status.Problems = []v1.Problem{{Reason: test.reason, Message: test.message, Pods: 2}}
		loaded.EventsOfObjects = []corev1.Event{{
			Reason: "FailedAttachVolume", Message: test.event,
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: loaded.Pods[0].Name, UID: loaded.Pods[0].UID},
		}}
		wantParts(t, test.name, shown(t, loaded), test.want)
	}
}
