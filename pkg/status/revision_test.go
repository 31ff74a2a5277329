// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
)

// What decides the revision asks these of the health.
func TestHealthOfRollout(t *testing.T) {
	type rollout struct {
		Healthy, TimedOut bool
		Reason, Message   string
	}
	deployment := func(f func(*appsv1.Deployment)) Input { return with(func(_ *Input, d *appsv1.Deployment) { f(d) }) }
	for name, test := range map[string]struct {
		in   Input
		want rollout
	}{
		"complete": {settled(), rollout{Healthy: true}},
		"without pods": {deployment(func(d *appsv1.Deployment) {
			d.Spec.Replicas = new(int32(0))
			counts(d, 0, 0, 0)
		}), rollout{}},
		"under way": {deployment(rollingOut), rollout{}},
		"failed":    {deployment(timedOut), rollout{TimedOut: true}},
		"failed, and then complete": {deployment(func(d *appsv1.Deployment) {
			timedOut(d)
			counts(d, 3, 3, 3)
		}), rollout{Healthy: true}},
		// What is said is about the Deployment as it was before.
		"failed before":   {deployment(func(d *appsv1.Deployment) { timedOut(d); d.Generation++ }), rollout{}},
		"complete before": {deployment(func(d *appsv1.Deployment) { d.Generation++ }), rollout{}},
		"another owner's": {deployment(func(d *appsv1.Deployment) { d.OwnerReferences[0].UID = "other" }), rollout{}},
		"with a reason": {
			with(func(_ *Input, d *appsv1.Deployment) { timedOut(d) }, withPods(1, crashing)),
			rollout{TimedOut: true, Reason: v1.ReasonCrashLooping, Message: "1 of 3 pods, container web: Exited with code 3 (Error)."},
		},
	} {
		r := health.Assess(test.in.Snapshot, noon)
		got := rollout{Healthy: r.Healthy(), TimedOut: r.TimedOut}
		if worst := r.Worst(); worst != nil {
			got.Reason, got.Message = worst.Reason, r.Describe(worst)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The numbers are of what runs: what could not be written, or only would be, does not.
func TestRevisionOfStatus(t *testing.T) {
	before := v1.RevisionStatus{Current: 1, LastHealthy: 1}
	after := v1.RevisionStatus{Current: 2, LastHealthy: 1}
	for name, test := range map[string]struct {
		change func(*Input)
		want   v1.RevisionStatus
	}{
		"written":  {func(*Input) {}, after},
		"refused":  {func(in *Input) { in.Results[0].Err = errors.New("no") }, before},
		"withheld": {func(in *Input) { in.Results[0].Action = plan.WaitDependency }, before},
		"observed": {func(in *Input) { in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve }, before},
		"invalid": {func(in *Input) {
			in.Results, in.Invalid = nil, field.ErrorList{field.Required(field.NewPath("spec"), "")}
		}, before},
		"healthier": {func(in *Input) {
			in.Results[0].Action, in.Revision.LastHealthy, in.Revision.FormerHealthy = plan.WaitDependency, 2, []int64{1}
		}, v1.RevisionStatus{Current: 1, LastHealthy: 2, FormerHealthy: []int64{1}}},
	} {
		in := settled()
		in.Revision = after
		in.Snapshot.Application.Status.Revision = before.DeepCopy()
		test.change(&in)
		if diff := cmp.Diff(&test.want, compute(in, noon).Revision); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestRevisionKeepsItsNumber: a ControllerRevision that could not get its next number still has the former one.
func TestRevisionKeepsItsNumber(t *testing.T) {
	before := v1.RevisionStatus{Current: 2, LastHealthy: 1}
	renumbered := v1.RevisionStatus{Current: 3, LastHealthy: 3}
	ref := child.Ref{Kind: child.ControllerRevision, Namespace: "shop", Name: "web-1"}
	for name, test := range map[string]struct {
		change func(in *Input, revision *plan.Result)
		want   v1.RevisionStatus
	}{
		"written": {func(*Input, *plan.Result) {}, renumbered},
		"refused": {func(_ *Input, revision *plan.Result) { revision.Err = errors.New("no") }, v1.RevisionStatus{Current: 1, LastHealthy: 1}},
		"both withheld": {func(in *Input, revision *plan.Result) {
			in.Results[0].Action, revision.Action = plan.WaitDependency, plan.WaitDependency
		}, v1.RevisionStatus{Current: 2, LastHealthy: 1}},
		"observed": {func(in *Input, _ *plan.Result) {
			in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
		}, v1.RevisionStatus{Current: 2, LastHealthy: 1}},
		"healthy before the last one": {func(in *Input, revision *plan.Result) {
			in.Revision.LastHealthy, in.Revision.FormerHealthy, revision.Err = 2, []int64{3}, errors.New("no")
		}, v1.RevisionStatus{Current: 1, LastHealthy: 2, FormerHealthy: []int64{1}}},
	} {
		in := settled()
		in.Revision, in.Renumbered, in.RenumberedFrom = renumbered, ref, 1
		in.Snapshot.Application.Status.Revision = before.DeepCopy()
		revision := plan.Result{Step: plan.Step{Ref: ref, Action: plan.Apply}}
		test.change(&in, &revision)
		in.Results = append(in.Results, revision)
		if diff := cmp.Diff(&test.want, compute(in, noon).Revision); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A rollback that could not be written is none yet, and one that was written before still is one.
func TestRollbackIsWritten(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"refused":  func(in *Input) { in.Results[0].Err = errors.New("no") },
		"withheld": func(in *Input) { in.Results[0].Action = plan.WaitDependency },
	} {
		in := with(func(in *Input, d *appsv1.Deployment) {
			timedOut(d)
			takenBack(in, d)
		})
		in.Snapshot.Application.Status.Conditions = []metav1.Condition{{Type: v1.ConditionRolledBack, Status: metav1.ConditionFalse, Reason: v1.ReasonNotCausedByRevision}}
		change(&in)
		if got := meta.FindStatusCondition(compute(in, noon).Conditions, v1.ConditionRolledBack); got != nil {
			t.Errorf("%s: the condition is %+v, want none", name, got)
		}
		written := in
		written.Results = []plan.Result{settled().Results[0]}
		in.Snapshot.Application.Status = compute(written, noon)
		if got := compute(in, noon).Conditions; !meta.IsStatusConditionTrue(got, v1.ConditionRolledBack) {
			t.Errorf("%s, after it was written: the conditions are %+v", name, got)
		}
	}
}

// A rollback is told once, about the Deployment, and at once. While the spec is invalid it is still known.
func TestRollbackIsTold(t *testing.T) {
	in := with(func(_ *Input, d *appsv1.Deployment) { rollingOut(d) })
	rolling := compute(in, noon)
	takenBack(&in, nil)
	back := compute(in, noon)
	if got := Compare(rolling, back); got != Now {
		t.Errorf("it is to be written %s", got)
	}
	told := Transitions(rolling, back)
	if len(told) != 1 || told[0].Reason != v1.ReasonRolledBack || told[0].Type != "Warning" || told[0].Related == nil || told[0].Related.Kind != child.Deployment {
		t.Errorf("told is %+v", told)
	}
	in.Snapshot.Application.Status = back
	if again := compute(in, noon); Compare(back, again) != Unchanged || len(Transitions(back, again)) > 0 {
		t.Errorf("it changes: %s", cmp.Diff(back, again))
	}
	in.Results, in.Invalid = nil, field.ErrorList{field.Required(field.NewPath("spec"), "")}
	invalid := compute(in, noon)
	if !meta.IsStatusConditionTrue(invalid.Conditions, v1.ConditionRolledBack) {
		t.Errorf("the conditions are %+v", invalid.Conditions)
	}
}

// A rollback has its Event too while Ready has a worse reason.
func TestRollbackBesideConflictIsTold(t *testing.T) {
	chart := result(plan.NotOwned, child.Service, "web", newService())
	chart.Reason = "Service web exists and does not belong to the Application"
	in := with(replace(chart), func(_ *Input, d *appsv1.Deployment) { rollingOut(d) })
	rolling := compute(in, noon)
	takenBack(&in, nil)
	back := compute(in, noon)
	told := Transitions(rolling, back)
	want := []Transition{{
		Type: "Warning", Reason: v1.ReasonRolledBack, Related: &child.Ref{Kind: child.Deployment, Name: "web"},
		Message: "Revision 2 (web:2) failed. Revision 1 (web:1) runs instead, until the spec or its class asks for other pods.",
	}}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("the Events (-want +got):\n%s", diff)
	}
	if again := Transitions(back, back); len(again) > 0 {
		t.Errorf("told again: %+v", again)
	}
	free := with(func(_ *Input, d *appsv1.Deployment) { rollingOut(d) })
	takenBack(&free, nil)
	alone := compute(free, noon)
	if stalled := meta.FindStatusCondition(alone.Conditions, v1.ConditionStalled); stalled == nil || stalled.Reason != v1.ReasonRolledBack {
		t.Errorf("after the conflict Stalled is %+v", stalled)
	}
	if again := Transitions(back, alone); len(again) > 0 {
		t.Errorf("told again when the conflict ends: %+v", again)
	}
	free.RolledBack = &metav1.Condition{Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack, Message: "Revision 3 (web:3) failed. Revision 1 (web:1) runs instead."}
	if another := Transitions(back, compute(free, noon)); len(another) != 1 || another[0].Reason != v1.ReasonRolledBack {
		t.Errorf("another rollback has the Events %+v", another)
	}
	// Stalled begins with what RolledBack says, although its reason is about the pods.
	pods := *back.DeepCopy()
	for i := range pods.Conditions {
		if condition := &pods.Conditions[i]; condition.Type == v1.ConditionStalled || condition.Type == v1.ConditionReady {
			condition.Reason, condition.Message = v1.ReasonImagePullFailed, want[0].Message+" The image does not exist."
		}
	}
	rolling.Resources = pods.Resources
	if once := Transitions(rolling, pods); len(once) != 1 || once[0].Reason != v1.ReasonImagePullFailed {
		t.Errorf("the Events are %+v", once)
	}
}

// What is missing may be nothing that the spec names: an earlier revision needs it.
func TestMissingOfEarlierRevision(t *testing.T) {
	const missing = "Secret db does not exist; running pods stay as they are, and new ones that need it wait."
	pin := func(in *Input) {
		in.Revision = v1.RevisionStatus{Current: 1}
		in.Snapshot.Application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))}
	}
	back := func(in *Input) { takenBack(in, nil) }
	waits := func(in *Input) { back(in); in.Revision.Current = 3 }
	for name, test := range map[string]struct {
		change func(*Input)
		action plan.Action
		want   string
	}{
		"the spec":                 {func(*Input) {}, plan.WaitDependency, missing},
		"a pin that waits":         {pin, plan.WaitDependency, "Revision 1, which spec.rollback.toRevision asks for, waits: " + missing},
		"a pin":                    {pin, plan.Keep, "Revision 1 runs, as spec.rollback.toRevision asks. " + missing},
		"a way back, waits":        {waits, plan.WaitDependency, "Revision 2 failed. Fairlead goes back to revision 1, which waits: " + missing},
		"a way back under Observe": {func(in *Input) { waits(in); in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve }, plan.WaitDependency, missing},
		"taken back":               {back, plan.Keep, "Revision 1 runs instead of revision 2, which failed. " + missing},
	} {
		in := settled()
		in.Missing = missing
		test.change(&in)
		in.Results[0].Action = test.action
		got := compute(in, noon)
		if ready := meta.FindStatusCondition(got.Conditions, v1.ConditionReady); ready.Reason != v1.ReasonConfigMissing || ready.Message != test.want {
			t.Errorf("%s: Ready is %s, %q, want %q", name, ready.Reason, ready.Message, test.want)
		}
		if want := "Secret db does not exist; running pods stay as…"; got.Summary != want {
			t.Errorf("%s: WHY is %q, want %q", name, got.Summary, want)
		}
	}
}

func scaledToZero(d *appsv1.Deployment) {
	d.Spec.Replicas = new(int32(0))
	counts(d, 0, 0, 0)
}

// The image of a rollout that is complete stays until no pod has it any more. Recreate ends it first.
func TestImageOutlived(t *testing.T) {
	for name, test := range map[string]struct {
		last   string
		change func(*appsv1.Deployment)
		want   string
	}{
		"the first rollout":     {"", func(d *appsv1.Deployment) { counts(d, 3, 3, 0) }, ""},
		"beside the old pods":   {"web:1", func(d *appsv1.Deployment) { counts(d, 4, 1, 3) }, "web:1"},
		"no old pod is left":    {"web:1", func(d *appsv1.Deployment) { counts(d, 3, 3, 0) }, "web:2"},
		"no pod at all is left": {"web:1", func(d *appsv1.Deployment) { counts(d, 0, 0, 0) }, "web:1"},
		"counts of before":      {"web:1", func(d *appsv1.Deployment) { counts(d, 3, 3, 0); d.Generation++ }, "web:1"},
		"at 0":                  {"web:1", func(d *appsv1.Deployment) { scaledToZero(d) }, "web:2"},
		"paused at 0":           {"web:1", func(d *appsv1.Deployment) { scaledToZero(d); d.Spec.Paused = true }, "web:1"},
		"the last new pods end": {"web:1", func(d *appsv1.Deployment) { scaledToZero(d); counts(d, 2, 2, 0); d.Spec.Paused = true }, "web:2"},
		"begun at 0, paused":    {"", func(d *appsv1.Deployment) { scaledToZero(d); d.Spec.Paused = true }, "web:2"},
	} {
		in := with(func(_ *Input, d *appsv1.Deployment) { test.change(d) })
		in.Snapshot.Application.Status.Image = test.last
		if got := compute(in, noon).Image; got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// A refused spec may have other pods already, so its rollback ends as soon as it is accepted.
func TestRollbackOfRefusedSpec(t *testing.T) {
	in := settled()
	takenBack(&in, nil)
	in.Snapshot.Application.Status = compute(in, noon)
	in.Results, in.Invalid = nil, field.ErrorList{field.Required(field.NewPath("spec"), "")}
	for range 2 {
		got := meta.FindStatusCondition(compute(in, noon).Conditions, v1.ConditionRolledBack)
		if want := "Revision 2 (web:2) failed. Revision 1 (web:1) runs instead."; got == nil || got.Message != want {
			t.Errorf("got %+v, want %q", got, want)
		}
		in.Snapshot.Application.Status = compute(in, noon)
	}
}

// A revision that was asked for gets another number when a ConfigMap that its pods follow has other content.
func TestPinnedWithOtherContent(t *testing.T) {
	for current, want := range map[int64]string{
		1: "All 3 pods are available at revision 1, as spec.rollback.toRevision asks; remove it to run the spec.",
		3: "All 3 pods are available at revision 3, which has the pods of revision 1 and other ConfigMaps or Secrets, as spec.rollback.toRevision asks; remove it to run the spec.",
	} {
		in := settled()
		in.Revision = v1.RevisionStatus{Current: current}
		in.Snapshot.Application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))}
		if got := meta.FindStatusCondition(compute(in, noon).Conditions, v1.ConditionReady).Message; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A suspended spec may have other pods, too.
func TestRollbackOfSuspendedSpec(t *testing.T) {
	in := settled()
	takenBack(&in, nil)
	in.Snapshot.Application.Status = compute(in, noon)
	in.Results, in.Snapshot.Application.Spec.ReconcilePolicy = nil, v1.ReconcileSuspend
	got := meta.FindStatusCondition(compute(in, noon).Conditions, v1.ConditionRolledBack)
	if want := "Revision 2 (web:2) failed. Revision 1 (web:1) runs instead."; got == nil || got.Message != want {
		t.Errorf("got %+v, want %q", got, want)
	}
}
