// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// unanswered is the error of a write whose webhook is away.
func unanswered(name string) error {
	return apierrors.NewInternalError(errors.New(`failed calling webhook "` + name + `": connection refused`))
}

// failing makes the last status say that writes have failed for so long.
func failing(since time.Duration) func(*Input, *appsv1.Deployment) {
	return func(in *Input, _ *appsv1.Deployment) {
		in.Snapshot.Application.Status.Conditions = []metav1.Condition{{
			Type: v1.ConditionReconciling, Status: metav1.ConditionTrue, Reason: v1.ReasonApplyFailed, LastTransitionTime: metav1.NewTime(noon.Add(-since)),
		}}
	}
}

// heldService is a Service that was deleted so long ago, and that a finalizer holds.
func heldService(since time.Duration, finalizers ...string) plan.Result {
	if len(finalizers) == 0 {
		finalizers = []string{"example.com/hold"}
	}
	live := newService()
	live.Finalizers, live.DeletionTimestamp = finalizers, &metav1.Time{Time: noon.Add(-since)}
	return result(plan.WaitDeletion, child.Service, "web", live)
}

// lastingSync is one of a sequence: at so long after noon, with the result of the Service.
type lastingSync struct {
	at     time.Duration
	result plan.Result
	// want is Reconciling or Stalled with its reason, or "".
	want   string
	events []string
}

// What fails or waits for a few minutes becomes Stalled with one Event, and ends at once.
func TestLasting(t *testing.T) {
	service := result(plan.Keep, child.Service, "web", newService())
	fails := func(webhook string) plan.Result {
		return failedWith(result(plan.Apply, child.Service, "web", newService()), unanswered(webhook))
	}
	const (
		failing, failed = "Reconciling/ApplyFailed", "Stalled/ApplyFailed"
		waiting, held   = "Reconciling/Applying", "Stalled/Applying"
	)
	ready := []string{"Normal Ready: All 3 pods are available."}
	for _, test := range []struct {
		name  string
		syncs []lastingSync
	}{
		{"a webhook that is away", []lastingSync{
			{0, fails("a"), failing, nil},
			{119 * time.Second, fails("a"), failing, nil},
			{2 * time.Minute, fails("a"), failed, []string{`Warning ApplyFailed: Service web: Internal error occurred: failed calling webhook "a": connection refused. (Service web)`}},
			{3 * time.Minute, fails("a"), failed, nil},
			{3 * time.Hour, fails("b"), failed, nil},
			{4 * time.Hour, service, "", ready},
			{5 * time.Hour, fails("a"), failing, nil},
		}},
		{"it answers in between", []lastingSync{
			{0, fails("a"), failing, nil},
			{time.Minute, service, "", ready},
			{2 * time.Minute, fails("a"), failing, nil},
			{3 * time.Minute, fails("a"), failing, nil},
			{4 * time.Minute, fails("a"), failed, []string{`Warning ApplyFailed: Service web: Internal error occurred: failed calling webhook "a": connection refused. (Service web)`}},
		}},
		{"it fails after another wait", []lastingSync{
			{0, heldService(0), waiting, nil},
			{3 * time.Minute, fails("a"), failing, nil},
			{4 * time.Minute, fails("a"), failing, nil},
			{5 * time.Minute, fails("a"), failed, []string{`Warning ApplyFailed: Service web: Internal error occurred: failed calling webhook "a": connection refused. (Service web)`}},
		}},
		{"a finalizer", []lastingSync{
			{0, heldService(0), waiting, nil},
			{299 * time.Second, heldService(0), waiting, nil},
			{5 * time.Minute, heldService(0), held, []string{
				"Warning Applying: Service web: Terminating until its controller removes the finalizer example.com/hold; will then be recreated. (Service web)"}},
			{time.Hour, heldService(0), held, nil},
			{2 * time.Hour, service, "", ready},
		}},
		{"a finalizer that nobody saw for a while", []lastingSync{
			{time.Hour, heldService(0), held, []string{
				"Warning Applying: Service web: Terminating until its controller removes the finalizer example.com/hold; will then be recreated. (Service web)"}},
		}},
		{"Kubernetes' own finalizer", []lastingSync{{time.Hour, heldService(0, metav1.FinalizerDeleteDependents), waiting, nil}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := settled()
			in.Snapshot.Application.Status = compute(in, noon)
			for _, sync := range test.syncs {
				in.Results[1] = sync.result
				old := in.Snapshot.Application.Status
				in.Snapshot.Application.Status = compute(in, noon.Add(sync.at))
				if got := stageOf(in.Snapshot.Application.Status); got != sync.want {
					t.Errorf("after %s: %q, want %q", sync.at, got, sync.want)
				}
				var events []string
				for _, transition := range Transitions(old, in.Snapshot.Application.Status) {
					event := transition.Type + " " + transition.Reason + ": " + transition.Message
					if transition.Related != nil {
						event += " (" + transition.Related.Kind.Kind + " " + transition.Related.Name + ")"
					}
					events = append(events, event)
				}
				if !slices.Equal(events, sync.events) {
					t.Errorf("after %s: Events %q, want %q", sync.at, events, sync.events)
				}
			}
		})
	}
}

// stageOf is Reconciling or Stalled with its reason, or "".
func stageOf(status v1.ApplicationStatus) string {
	for _, kind := range []string{v1.ConditionReconciling, v1.ConditionStalled} {
		if condition := apimeta.FindStatusCondition(status.Conditions, kind); condition != nil {
			return kind + "/" + condition.Reason
		}
	}
	return ""
}

// The message names a child that is held, and not one that was deleted just now.
func TestLastingNamesTheHeldChild(t *testing.T) {
	in := settled()
	account := heldService(0)
	account.Ref = ref(child.ServiceAccount, "web")
	in.Results = append([]plan.Result{account}, in.Results...)
	in.Results[2] = heldService(terminationGrace)
	ready := apimeta.FindStatusCondition(compute(in, noon).Conditions, v1.ConditionReady)
	if want := "Service web: Terminating until its controller removes the finalizer example.com/hold; will then be recreated."; ready.Message != want {
		t.Errorf("%q, want %q", ready.Message, want)
	}
	if related := cause(compute(in, noon), ready.Reason); related == nil || related.Kind != child.Service {
		t.Errorf("the Event is about %v, want the Service", related)
	}
}

// TestLastingComesFirst: a write that fails once does not hide what lasts, so the Event of that does not come again.
func TestLastingComesFirst(t *testing.T) {
	in := settled()
	in.Results = append(in.Results, failedWith(result(plan.Apply, child.ConfigMap, "web-config", &corev1.ConfigMap{}), unanswered("a")))
	in.Results[1] = heldService(terminationGrace)
	if got := stageOf(compute(in, noon)); got != "Stalled/Applying" {
		t.Errorf("%q, want what lasts", got)
	}
}

// TestMissingComesBeforeWhatLasts: a user can create a Secret, whatever else is away.
func TestMissingComesBeforeWhatLasts(t *testing.T) {
	in := settled()
	in.Results[1] = heldService(terminationGrace)
	in.Missing = "Secret db does not exist"
	if ready := apimeta.FindStatusCondition(compute(in, noon).Conditions, v1.ConditionReady); ready.Reason != v1.ReasonConfigMissing {
		t.Errorf("%s: %s, want %s", ready.Reason, ready.Message, v1.ReasonConfigMissing)
	}
}

func TestStallsAfter(t *testing.T) {
	observed := func(in *Input, _ *appsv1.Deployment) {
		in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	}
	gone := heldService(time.Minute)
	gone.Desired = nil
	for name, test := range map[string]struct {
		in   Input
		want time.Duration
	}{
		"at rest":           {settled(), 0},
		"held":              {with(replace(heldService(time.Minute))), 4 * time.Minute},
		"held for long":     {with(replace(heldService(time.Hour))), 0},
		"held and observed": {with(replace(heldService(time.Minute)), observed), 0},
		"no longer wanted":  {with(replace(gone)), 0},
		"Kubernetes' own":   {with(replace(heldService(time.Minute, metav1.FinalizerOrphanDependents))), 0},
	} {
		test.in.ServerTime = noon
		if got := StallsAfter(test.in); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
