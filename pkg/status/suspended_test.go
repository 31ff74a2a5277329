// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// suspendedApplication has failed, and was suspended since.
func suspendedApplication() *v1.Application {
	in := with(func(_ *Input, d *appsv1.Deployment) { timedOut(d) })
	application := in.Snapshot.Application.DeepCopy()
	application.Status = compute(in, noon)
	application.Generation++
	application.Spec.ReconcilePolicy = v1.ReconcileSuspend
	return application
}

// Only Ready is about the present; a condition that stays keeps its generation.
func TestSuspended(t *testing.T) {
	in := settled()
	in.Results = nil
	in.Snapshot.Application = suspendedApplication()
	before, generation := in.Snapshot.Application.Status, in.Snapshot.Application.Generation
	got := compute(in, noon.Add(time.Hour))
	ready := meta.FindStatusCondition(got.Conditions, v1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionUnknown || ready.Reason != v1.ReasonSuspended || ready.ObservedGeneration != generation || !ready.LastTransitionTime.Equal(&metav1.Time{Time: noon.Add(time.Hour)}) {
		t.Errorf("Ready is %+v", ready)
	}
	if got.ObservedGeneration != generation || got.Summary != suspendedSummary || len(got.Summary) > maxSummary {
		t.Errorf("generation %d, summary %q", got.ObservedGeneration, got.Summary)
	}
	if stalled := meta.FindStatusCondition(got.Conditions, v1.ConditionStalled); stalled != nil || !meta.IsStatusConditionTrue(before.Conditions, v1.ConditionStalled) {
		t.Errorf("Stalled is %+v", stalled)
	}
	if progressing := meta.FindStatusCondition(got.Conditions, v1.ConditionProgressing); progressing == nil || progressing.ObservedGeneration != generation-1 {
		t.Errorf("Progressing is %+v, want it of the generation before", progressing)
	}
	if len(got.Resources) != len(before.Resources) || got.AvailableReplicas != before.AvailableReplicas {
		t.Errorf("not kept: %+v", got)
	}
	if urgency := Compare(before, got); urgency != Now {
		t.Errorf("the write may wait: %s", urgency)
	}
	in.Snapshot.Application.Status = got
	if urgency := Compare(got, compute(in, noon.Add(2*time.Hour))); urgency != Unchanged {
		t.Errorf("a second sync writes again: %s", urgency)
	}
}

// Nothing creates the Deployment again, which the other conditions do not say.
func TestSuspendedWithoutADeployment(t *testing.T) {
	in := settled()
	in.Snapshot.Application = suspendedApplication()
	before := compute(in, noon)
	in.Snapshot.Application.Status, in.Snapshot.Children = before, nil
	got := compute(in, noon)
	const message = "Fairlead does nothing about the Application, because spec.reconcilePolicy is Suspend. The other conditions and the numbers " +
		"in .status show the state before that. The controller sees no Deployment of the Application, and creates none before the suspension ends."
	const summary = "No Deployment; none is created while suspended."
	if ready := meta.FindStatusCondition(got.Conditions, v1.ConditionReady); ready.Message != message || got.Summary != summary || len(summary) > maxSummary {
		t.Errorf("%q, summary %q", ready.Message, got.Summary)
	}
	if Compare(before, got) == Unchanged {
		t.Error("it is not written")
	}
	in.Snapshot.Children = settled().Snapshot.Children
	if in.Snapshot.Application.Status = got; compute(in, noon).Summary != before.Summary {
		t.Error("it stays once there is a Deployment")
	}
}

// A status that is not ready for another reason is replaced at once, too.
func TestSuspendedWhileRollingOut(t *testing.T) {
	in := with(func(_ *Input, d *appsv1.Deployment) { rollingOut(d) })
	in.Snapshot.Application.Status = compute(in, noon)
	in.Snapshot.Application.Generation++
	in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileSuspend
	if urgency := Compare(in.Snapshot.Application.Status, compute(in, noon)); urgency != Now {
		t.Errorf("the write may wait: %s", urgency)
	}
}
