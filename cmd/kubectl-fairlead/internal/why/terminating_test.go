// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree/treetest"
)

// TestHeldByFinalizer: another controller's finalizer holds a Deployment that was deleted, which may last for ever.
func TestHeldByFinalizer(t *testing.T) {
	const (
		held    = "default/cart is not ready (Applying): it waits for a finalizer of Deployment cart, which Fairlead does not remove.\n"
		working = "default/cart is not ready (Applying); the controller is still at work.\n"
		one     = "Deployment cart is being deleted, and waits for the finalizer example.com/a. Until it is gone, Fairlead cannot create it again.\n"
		two     = "Deployment cart is being deleted, and waits for the finalizers example.com/a and example.com/b. Until it is gone,"
		waits   = "Deployment cart waits.\n"
		setBy   = "   - Deployment/cart metadata.finalizers, 5m ago: example.com/a, set by kubectl-patch\n"
		check   = "   → Check the controller that owns this finalizer: it removes the finalizer when its work is done.\n"
		remove  = "   → If that controller is gone for good: kubectl edit deployments.apps cart, and remove the finalizer. Its work is then never done.\n"
	)
	for _, test := range []struct {
		name       string
		finalizers []string
		stalled    bool
		want       map[string]bool
	}{
		{"another controller's", []string{"foregroundDeletion", "example.com/a"}, false, map[string]bool{held: true, one: true, setBy: true, check: true, remove: true, waits: false}},
		{"another controller's for minutes", []string{"example.com/a"}, true, map[string]bool{held: true, one: true, check: true}},
		{"two", []string{"example.com/a", "example.com/b"}, false, map[string]bool{held: true, two: true, setBy: true, remove: true}},
		{"the garbage collector's", []string{"foregroundDeletion"}, false, map[string]bool{working: true, waits: true, check: false}},
	} {
		loaded := clustertest.Load(t, "healthy")
		status := &loaded.Application.Status
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonApplying})
		if test.stalled {
			meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonApplying})
		}
		for i := range status.Resources {
			if resource := &status.Resources[i]; resource.Kind == child.Deployment.Kind {
				resource.State, resource.Message = v1.ResourcePending, "Terminating; will be recreated."
			}
		}
		deployment := childOf(t, loaded, child.Deployment.Kind)
		deployment.SetDeletionTimestamp(&metav1.Time{Time: treetest.Now.Add(-5 * time.Minute)})
		deployment.SetFinalizers(test.finalizers)
		deployment.SetManagedFields(append(deployment.GetManagedFields(), metav1.ManagedFieldsEntry{
			Manager: "kubectl-patch", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/a\"":{}}}}`),
		}))
		wantParts(t, test.name, shown(t, loaded), test.want)
	}
}
