// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/status"
	"fairlead.dev/fairlead/pkg/workqueue"
)

var (
	errConflict = apierrors.NewConflict(schema.GroupResource{Resource: "services"}, "web", errors.New("it changed"))
	errQuota    = apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "web", errors.New("exceeded quota: small, requested: services=1, used: services=1, limited: services=1"))
	errBroken   = errors.New("connection reset")
	errBusy     = apierrors.NewTooManyRequests("slow down", 7)
)

// What becomes of a key that failed three times before and ends with the outcome now.
func TestHandleOutcome(t *testing.T) {
	const (
		never   = time.Duration(0)
		backOff = 8 * 50 * time.Millisecond
	)
	for _, test := range []struct {
		name    string
		outcome Outcome
		// comes is when; a back-off may be a fifth longer.
		comes time.Duration
		// by is why.
		by workqueue.Event
		// failures are remembered afterwards.
		failures int
		// level is that of the message: I, E, or none.
		level string
	}{
		{"succeeded", Outcome{Verdict: Succeeded}, never, "", 0, ""},
		{"succeeded for a while", Outcome{Verdict: Succeeded, RequeueAfter: 5 * time.Second}, 5 * time.Second, workqueue.Requeued, 0, ""},
		{"invalid", Outcome{Verdict: Invalid}, never, "", 0, ""},
		{"invalid for a while", Outcome{Verdict: Invalid, RequeueAfter: time.Minute}, time.Minute, workqueue.Requeued, 0, ""},
		{"stale", Outcome{Verdict: Stale, Err: errBroken}, backOff, workqueue.Retried, 4, "I"},
		{"blocked", Outcome{Verdict: Blocked, Err: errQuota}, backOff, workqueue.Retried, 4, "I"},
		{"blocked, and checked again", Outcome{Verdict: Blocked, Err: errQuota, RecheckAfter: 10 * time.Millisecond}, 10 * time.Millisecond, workqueue.Requeued, 4, "I"},
		{"blocked ignores RequeueAfter", Outcome{Verdict: Blocked, Err: errQuota, RequeueAfter: time.Millisecond}, backOff, workqueue.Retried, 4, "I"},
		{"failed", failed(errBroken), backOff, workqueue.Retried, 4, "E"},
		{"conflict", failed(fmt.Errorf("apply: %w", errConflict)), backOff, workqueue.Retried, 4, "I"},
		{"interrupted", failed(fmt.Errorf("apply: %w", context.Canceled)), backOff, workqueue.Retried, 4, "I"},
		{"busy", failed(fmt.Errorf("apply: %w", errBusy)), 7 * time.Second, workqueue.Retried, 3, "E"},
		{"busy beside others", failed(errors.Join(errBroken, fmt.Errorf("apply: %w", errBusy))), 7 * time.Second, workqueue.Retried, 3, "E"},
		{"busy for no time", failed(apierrors.NewTooManyRequests("slow down", 0)), backOff, workqueue.Retried, 4, "E"},
		{"unknown", Outcome{}, backOff, workqueue.Retried, 4, "E"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &Controller{queue: workqueue.New("test", 1, nil)}
				defer c.queue.ShutDown()
				c.queue.Add(key("web"), workqueue.Trigger{Event: workqueue.Updated})
				c.queue.Get()
				for range 3 {
					c.queue.Retry(key("web"), 0)
					c.queue.Done(key("web"))
					comesBack(t, c.queue, workqueue.Retried)
				}
				l := &log{}
				c.handleOutcome(klog.NewContext(t.Context(), l.logger()), key("web"), test.outcome)
				c.queue.Done(key("web"))
				if got := c.queue.Failures(key("web")); got != test.failures {
					t.Errorf("%d failures are remembered, want %d", got, test.failures)
				}
				if messages := l.find(); test.level == "" && len(messages) > 0 || test.level != "" && (len(messages) != 1 || messages[0][:1] != test.level) {
					t.Errorf("logged is %q, want one of level %q", messages, test.level)
				}
				if test.comes == never {
					pass(time.Hour)
					if c.queue.Len() > 0 {
						t.Error("it comes back")
					}
					return
				}
				longest := test.comes
				if test.comes == backOff {
					longest += backOff / 5
				}
				if got := comesBack(t, c.queue, test.by); got < test.comes || got > longest {
					t.Errorf("it comes back after %s, want %s to %s", got, test.comes, longest)
				}
			})
		})
	}
}

func TestOutcomeOf(t *testing.T) {
	result := func(action plan.Action, err error) plan.Result {
		return plan.Result{Step: plan.Step{Action: action, Ref: child.Ref{Kind: child.Service, Namespace: namespace, Name: "web"}, Reason: "because"}, Err: err}
	}
	var (
		kept     = result(plan.Keep, nil)
		created  = result(plan.Create, nil)
		waiting  = result(plan.WaitDeletion, nil)
		held     = result(plan.Backoff, nil)
		refused  = result(plan.NotOwned, nil)
		conflict = result(plan.Apply, fmt.Errorf("apply: %w", errConflict))
		quota    = result(plan.Create, fmt.Errorf("create: %w", errQuota))
		broken   = result(plan.Create, fmt.Errorf("create: %w", errBroken))
		busy     = result(plan.Create, fmt.Errorf("create: %w", errBusy))
	)
	for _, test := range []struct {
		name    string
		results []plan.Result
		want    Verdict
		err     error
	}{
		{"nothing", nil, Succeeded, nil},
		{"done", []plan.Result{kept, created, waiting, held}, Succeeded, nil},
		{"foreign object", []plan.Result{kept, refused}, Blocked, nil},
		{"foreign object beside a quota", []plan.Result{quota, refused}, Blocked, errQuota},
		{"quota", []plan.Result{quota, created}, Blocked, errQuota},
		{"conflict", []plan.Result{kept, conflict}, Stale, errConflict},
		{"no answer", []plan.Result{broken, kept}, Failed, errBroken},
		{"busy", []plan.Result{busy}, Failed, errBusy},
		{"conflict comes before blocked", []plan.Result{refused, quota, conflict}, Stale, errConflict},
		{"failure comes before conflict", []plan.Result{conflict, broken, quota}, Failed, errBroken},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := outcomeOf(nil, test.results)
			if foreign := slices.ContainsFunc(test.results, func(r plan.Result) bool { return r.Action == plan.NotOwned }); got.RecheckAfter != 0 && !foreign || got.RecheckAfter == 0 && foreign && got.Verdict == Blocked {
				t.Errorf("it is checked again after %s", got.RecheckAfter)
			}
			if got.Verdict != test.want || got.RequeueAfter != 0 || (got.Err == nil) != (test.want == Succeeded) || test.err != nil && !errors.Is(got.Err, test.err) {
				t.Errorf("outcome is %+v, want %s with %v", got, test.want, test.err)
			}
		})
	}
	invalid := field.ErrorList{field.Required(field.NewPath("spec", "image"), "")}
	if got := outcomeOf(invalid, []plan.Result{broken}); got != (Outcome{Verdict: Invalid}) {
		t.Errorf("outcome of an invalid spec is %+v", got)
	}
}

func TestMinNonZero(t *testing.T) {
	for _, test := range []struct {
		durations []time.Duration
		want      time.Duration
	}{
		{nil, 0},
		{[]time.Duration{0, 0}, 0},
		{[]time.Duration{0, time.Second, -time.Second, time.Minute}, time.Second},
		{[]time.Duration{-time.Second}, 0},
		{[]time.Duration{time.Minute, time.Second}, time.Second},
	} {
		if got := minNonZero(test.durations...); got != test.want {
			t.Errorf("of %v it is %s, want %s", test.durations, got, test.want)
		}
	}
}

// comesBack is how long it takes until a key comes back; then it is taken. In a bubble that is exact, and if no key
// ever comes, the bubble reports a deadlock.
func comesBack(t *testing.T, q *workqueue.Queue, by workqueue.Event) time.Duration {
	t.Helper()
	start := time.Now()
	item, _ := q.Get()
	if item.Trigger != (workqueue.Trigger{Event: by}) {
		t.Errorf("%s came by %s", item.Key, item.Trigger)
	}
	return time.Since(start)
}

// Each step is a sync: so long after the first, so urgent a status.
func TestDeferredStatus(t *testing.T) {
	type step struct {
		at      time.Duration
		urgency status.Urgency
		want    time.Duration
	}
	const (
		ms    = time.Millisecond
		now   = time.Duration(-1)
		never = time.Duration(0)
	)
	wait := func(m *memory, name string, urgency status.Urgency, at time.Time) time.Duration {
		write, delay := m.deferStatus(key(name), urgency, at)
		if write == writeNow {
			return now
		}
		return delay
	}
	for name, steps := range map[string][]step{
		"same":                 {{0, status.Unchanged, never}, {ms, status.Unchanged, never}},
		"now":                  {{0, status.Now, now}, {ms, status.Now, now}},
		"soon":                 {{0, status.Batched, time.Second}, {time.Second, status.Batched, now}},
		"moving":               {{0, status.Batched, time.Second}, {300 * ms, status.Batched, 700 * ms}, {999 * ms, status.Batched, ms}, {1001 * ms, status.Batched, now}},
		"soon again":           {{0, status.Batched, time.Second}, {time.Second, status.Batched, now}, {1100 * ms, status.Batched, time.Second}},
		"became urgent":        {{0, status.Batched, time.Second}, {100 * ms, status.Now, now}, {200 * ms, status.Batched, time.Second}},
		"became the same":      {{0, status.Batched, time.Second}, {100 * ms, status.Unchanged, never}, {200 * ms, status.Batched, time.Second}},
		"after a long absence": {{0, status.Batched, time.Second}, {time.Hour, status.Batched, now}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(consistency.NewStore())
			start := time.Now()
			for _, s := range steps {
				if got := wait(m, "web", s.urgency, start.Add(s.at)); got != s.want {
					t.Errorf("%s at %s waits %s, want %s", s.urgency, s.at, got, s.want)
				}
				if got := wait(m, "other", status.Unchanged, start.Add(s.at)); got != never {
					t.Errorf("the other one waits %s", got)
				}
			}
		})
	}
	m := newMemory(consistency.NewStore())
	start := time.Now()
	wait(m, "web", status.Batched, start)
	m.forget(key("web"))
	if got := wait(m, "web", status.Batched, start.Add(time.Minute)); got != time.Second {
		t.Errorf("a new one of that name waits %s", got)
	}
}
