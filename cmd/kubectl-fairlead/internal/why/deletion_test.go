// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestDeletionWaitsToRelease: a controller that says what it waits for runs.
func TestDeletionWaitsToRelease(t *testing.T) {
	const (
		check = "   → Check that the controller runs: kubectl fairlead doctor\n"
		solve = "   → Solve what the condition names. The controller tries again until it succeeds.\n"
	)
	for reason, says := range map[string]bool{v1.ReasonDeleting: true, "MinimumReplicasAvailable": false} {
		loaded := clustertest.Load(t, "healthy")
		application := loaded.Application
		application.DeletionTimestamp, application.Finalizers = &metav1.Time{Time: treetest.Now}, []string{v1.FinalizerOrphan}
		for i := range application.Status.Conditions {
			if ready := &application.Status.Conditions[i]; ready.Type == v1.ConditionReady {
				ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, reason, "Deletion waits to keep Deployment web: the namespace is frozen."
			}
		}
		text, _ := printed(t, loaded)
		wantParts(t, reason, text, map[string]bool{solve: says, check: !says, "status.conditions[Ready]": says})
	}
}

// TestDeletionEndsAdvice: no change of the spec helps an Application that is being deleted.
func TestDeletionEndsAdvice(t *testing.T) {
	const waits = "The deletion waits for the finalizer example.com/hold.\n"
	for _, scene := range []string{"paused", "observe", "crash"} {
		loaded := clustertest.Load(t, scene)
		loaded.Application.DeletionTimestamp, loaded.Application.Finalizers = &metav1.Time{Time: treetest.Now}, []string{"example.com/hold"}
		wantParts(t, scene, shown(t, loaded), map[string]bool{waits: true, "resume web": false, "undo web": false, "1. ": false})
	}
}
