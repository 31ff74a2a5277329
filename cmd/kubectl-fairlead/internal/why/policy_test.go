// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestObservedWithAFault says that no change takes effect before the observation ends, and does not end a pause with it.
func TestObservedWithAFault(t *testing.T) {
	loaded := clustertest.Load(t, "image")
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	const want = "A change takes effect only once reconcilePolicy is no longer Observe: kubectl patch "
	if findings := why.Explain(loaded).Findings; len(findings) == 0 || !strings.HasPrefix(findings[0].Next[len(findings[0].Next)-1], want) {
		t.Errorf("%+v", findings)
	}
}

// TestObservedWithoutADeployment waits for the user, not for the controller.
func TestObservedWithoutADeployment(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{
		Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonDrifted, Message: "There is no Deployment, and reconcilePolicy Observe creates none.",
	})
	meta.SetStatusCondition(&loaded.Application.Status.Conditions, metav1.Condition{Type: v1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: v1.ReasonDrifted})
	if got := why.Explain(loaded).Headline; !strings.HasSuffix(got, " is not ready (Drifted): it waits for you, since reconcilePolicy is Observe.") {
		t.Error(got)
	}
}

// TestSuspendedWithAnOldFault leaves out what status showed before.
func TestSuspendedWithAnOldFault(t *testing.T) {
	for _, scene := range []string{"conflict", "image"} {
		loaded := clustertest.Load(t, scene)
		loaded.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
		answer := why.Explain(loaded)
		if len(answer.Findings) != 1 || answer.Findings[0].Reason != v1.ReasonSuspended || !strings.HasSuffix(answer.Headline, " is suspended.") {
			t.Errorf("%s: %+v", scene, answer)
		}
	}
}

// TestSuspendedWithoutADeployment does not let the user wait for what nothing creates.
func TestSuspendedWithoutADeployment(t *testing.T) {
	const (
		suspended = "Fairlead does nothing, because spec.reconcilePolicy is Suspend: status shows the state before that."
		no        = " There is no Deployment of the Application, so no pods run, and Fairlead creates none before the suspension ends."
	)
	loaded := clustertest.Load(t, "healthy")
	loaded.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
	wantParts(t, "with a Deployment", shown(t, loaded), map[string]bool{suspended + "\n": true})
	remove(loaded, child.Deployment)
	wantParts(t, "without one", shown(t, loaded), map[string]bool{suspended + no + "\n": true})
}
