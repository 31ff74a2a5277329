// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestHeadlineNamesWhatPodsWaitFor before the progress deadline, when the controller has nothing to do.
func TestHeadlineNamesWhatPodsWaitFor(t *testing.T) {
	for _, test := range []struct{ reason, message, want string }{
		{v1.ReasonUnschedulable, "0/3 nodes are available: 3 Insufficient cpu.", ": pods wait for a node, which Fairlead cannot provide."},
		{v1.ReasonUnschedulable, "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.", ": pods wait for a volume, which Fairlead cannot provide."},
		{v1.ReasonUnschedulable, `0/3 nodes are available: persistentvolumeclaim "data" not found.`, ": pods wait for a volume, which Fairlead cannot provide."},
		{v1.ReasonQuotaExceeded, "exceeded quota: pods", ": pods wait for quota, which Fairlead cannot provide."},
		{v1.ReasonImagePullFailed, "not found", ": pods wait for their image, which Fairlead cannot provide."},
		{v1.ReasonCrashLooping, "Exited with code 1.", ": it waits for its pods."},
		{v1.ReasonRoutesPending, "", ": it waits for the controller that serves its routes, which Fairlead cannot provide."},
		{v1.ReasonApplyFailed, "", "; the controller is still at work."},
	} {
		loaded := clustertest.Load(t, "unschedulable")
		status := &loaded.Application.Status
		meta.RemoveStatusCondition(&status.Conditions, v1.ConditionStalled)
		meta.FindStatusCondition(status.Conditions, v1.ConditionReady).Reason = test.reason
		if test.message != "" {
			status.Problems = []v1.Problem{{Reason: test.reason, Message: test.message, Pods: 2}}
		}
		want := "unschedulable/web is not ready (" + test.reason + ")" + test.want
		if got := why.Explain(loaded).Headline; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMissingClaim: what the scheduler says of a claim is named in plain words.
func TestMissingClaim(t *testing.T) {
	loaded := clustertest.Load(t, "unschedulable")
	loaded.Application.Status.Problems = []v1.Problem{{
		Reason: v1.ReasonUnschedulable, Message: `0/3 nodes are available: persistentvolumeclaim "data" not found.`, Pods: 2,
	}}
	wantParts(t, "a missing claim", shown(t, loaded), map[string]bool{
		"PersistentVolumeClaim data does not exist, so no node takes the pods. This concerns":                              true,
		"   → Create PersistentVolumeClaim data, or correct its name in spec.mounts: kubectl get persistentvolumeclaims\n": true,
	})
}

// TestUnboundClaim: while a volume is provisioned, no condition of the pod says that the pod waits for it.
func TestUnboundClaim(t *testing.T) {
	const (
		headline = "unschedulable/web is not ready (RollingOut): pods wait for a volume, which Fairlead cannot provide.\n"
		what     = "PersistentVolumeClaim data has no volume, and pods wait for it.\n"
		evidence = "   - PersistentVolumeClaim/data status.phase, 9m ago: Pending"
		next     = "   → See why, such as that nothing provisions volumes: kubectl describe persistentvolumeclaims\n"
	)
	loaded := clustertest.Load(t, "unschedulable")
	status := &loaded.Application.Status
	meta.RemoveStatusCondition(&status.Conditions, v1.ConditionStalled)
	for _, pod := range loaded.Pods {
		pod.Status.Conditions = nil
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
		}}}
	}
	if got := why.Claims(loaded); !slices.Equal(got, []string{"data"}) {
		t.Errorf("asks for %q, want data", got)
	}
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name, claim.Status.Phase, claim.CreationTimestamp = "data", corev1.ClaimPending, metav1.NewTime(treetest.Now.Add(-9*time.Minute))
	loaded.UnboundClaims = []*corev1.PersistentVolumeClaim{claim}
	wantParts(t, "the scheduler says so", shown(t, loaded), map[string]bool{what: false, "No node takes the pods.": true})

	status.Problems, meta.FindStatusCondition(status.Conditions, v1.ConditionReady).Reason = nil, v1.ReasonRollingOut
	for words, class := range map[string]*string{", of StorageClass fast\n": new("fast"), ", of no StorageClass\n": new(""), "\n": nil} {
		claim.Spec.StorageClassName = class
		wantParts(t, "no condition", shown(t, loaded), map[string]bool{headline: true, what + evidence + words + next: true})
	}
	meta.FindStatusCondition(status.Conditions, v1.ConditionReady).Reason = v1.ReasonApplyFailed
	wantParts(t, "a child cannot be written", shown(t, loaded), map[string]bool{
		"unschedulable/web is not ready (ApplyFailed); the controller is still at work.\n": true, what: true,
	})
	loaded.Application.DeletionTimestamp = &metav1.Time{}
	wantParts(t, "deleted", shown(t, loaded), map[string]bool{what: false})
	for _, pod := range loaded.Pods {
		pod.Spec.NodeName = "node-1"
	}
	if got := why.Claims(loaded); len(got) > 0 {
		t.Errorf("asks for %q, although the pods have a node", got)
	}
}
