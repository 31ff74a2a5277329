// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/testing/wallclock"
)

// The wall clock of the controller's machine jumps by hours before each step, and changes nothing: no write more, and none less.
func TestClockThatJumps(t *testing.T) {
	run := func(t *testing.T, jumps ...time.Duration) (writes []string) {
		t.Helper()
		clock := &wallclock.Clock{}
		inWorld(t, setup{clock: clock, begin: withApplications(application("web"))}, func(w *world) {
			step := 0
			jump := func() {
				if len(jumps) > 0 {
					clock.Set(jumps[step%len(jumps)])
				}
				step++
			}
			pass(time.Minute)
			jump()
			w.pods("web", 1)
			pass(time.Minute)
			jump()
			w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
			pass(time.Minute)
			w.pods("web", 1)
			pass(5 * time.Second)
			// Another writer insists, and repairs back off.
			for range 10 {
				jump()
				applytest.Edit(w.server, child.Service, namespace, "web", func(s child.Object) { s.SetLabels(nil) })
				pass(10 * time.Second)
			}
			jump()
			pass(time.Hour)
			w.edit("web", func(a *v1.Application) { a.Finalizers = append(a.Finalizers, "example.com/hold") })
			jump()
			w.server.Delete(applytest.Applications, namespace, "web")
			pass(time.Hour)
			for _, r := range w.server.Requests(applytest.Request.Writes) {
				writes = append(writes, fmt.Sprintf("%s %s %s/%s", r.Verb, r.Kind.Kind, r.Name, r.Subresource))
			}
		})
		return writes
	}
	want := run(t)
	for name, jumps := range map[string][]time.Duration{
		"forward and back": {3 * time.Hour, -3 * time.Hour},
		"forward":          {time.Hour, 5 * time.Hour, 26 * time.Hour},
		"back":             {-time.Hour, -5 * time.Hour, -26 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, run(t, jumps...)); diff != "" {
				t.Errorf("writes (-with a right clock +with one that jumps):\n%s", diff)
			}
		})
	}
}

// A deletion that is held up says so in time, although the controller's clock is three hours behind, before and after a restart.
func TestDeletionByAClockThatIsBehind(t *testing.T) {
	for _, test := range []struct {
		finalizer string
		grace     time.Duration
		restart   bool
	}{
		{"example.com/hold", finalizerGrace, false},
		{"example.com/hold", finalizerGrace, true},
		{metav1.FinalizerDeleteDependents, collectionGrace, false},
		{metav1.FinalizerOrphanDependents, collectionGrace, false},
	} {
		t.Run(fmt.Sprintf("%s, restart %t", test.finalizer, test.restart), func(t *testing.T) {
			clock := &wallclock.Clock{}
			held := application("web")
			held.Finalizers = []string{test.finalizer}
			inWorld(t, setup{clock: clock, begin: withApplications(held)}, func(w *world) {
				pass(time.Minute)
				clock.Set(-3 * time.Hour)
				w.server.Delete(applytest.Applications, namespace, "web")
				pass(time.Second)
				if test.restart {
					w.end()
					w.start()
				}
				w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRollingOut)
				pass(test.grace + 5*time.Second)
				w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDeleting)
			})
		})
	}
}

// A pod that does not get ready is a problem in time, although the clock was set back by three hours. A controller that starts with such a
// clock, and has seen no new object since, reports it soon after the clock is right again, and no event tells of that.
func TestProblemByAClockThatIsBehind(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %t", restart), func(t *testing.T) {
			clock := &wallclock.Clock{}
			inWorld(t, setup{clock: clock, begin: withApplications(application("web"))}, func(w *world) {
				pass(4 * time.Hour)
				clock.Set(-3 * time.Hour)
				if restart {
					w.end()
					w.start()
				}
				w.startPod("web")
				pass(5 * time.Minute)
				if restart {
					w.wantProblem("web", "")
					clock.Set(0)
					pass(time.Minute + 5*time.Second)
				}
				w.wantProblem("web", v1.ReasonReadinessFailing)
			})
		})
	}
}

// The time of the API server goes on from the latest time of an object, and never stays behind the clock.
func TestServerTime(t *testing.T) {
	made := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	web := application("web")
	web.CreationTimestamp = metav1.NewTime(made)
	service := &metav1.PartialObjectMetadata{}
	service.SetCreationTimestamp(metav1.NewTime(made.Add(time.Minute)))
	snapshot := child.Snapshot{Application: web}
	m := newMemory(nil)
	var clock wallclock.Clock
	// at sets the clock so that it shows this time, for the reading.
	at := func(show time.Time) time.Time {
		clock.Set(time.Until(show).Round(time.Second))
		return clock.Now()
	}
	near := func(what string, got, want time.Time) {
		t.Helper()
		if off := got.Sub(want).Abs(); off > 10*time.Second {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	near("a right clock", m.serverTime(snapshot, at(made.Add(time.Hour))), made.Add(time.Hour))
	m = newMemory(nil)
	near("a clock that is behind", m.serverTime(snapshot, at(made.Add(-3*time.Hour))), made)
	near("it was set back further", m.serverTime(snapshot, at(made.Add(-30*time.Hour))), made)
	near("ten minutes later", m.serverTime(snapshot, at(made.Add(-30*time.Hour)).Add(10*time.Minute)), made.Add(10*time.Minute))
	snapshot.Children = map[child.Ref]child.Object{{Kind: child.Service, Namespace: namespace, Name: "web"}: service}
	near("a new child", m.serverTime(snapshot, at(made.Add(-3*time.Hour))), made.Add(time.Minute))
	deleted := metav1.NewTime(made.Add(time.Hour))
	web.DeletionTimestamp = &deleted
	near("a deletion", m.serverTime(snapshot, at(made.Add(-3*time.Hour))), made.Add(time.Hour))
	near("the clock is mended", m.serverTime(snapshot, at(made.Add(2*time.Hour))), made.Add(2*time.Hour))
}

// How old a route is that this process created does not depend on the wall clock.
func TestAgesOfRoutes(t *testing.T) {
	web := application("web")
	m := newMemory(nil)
	var clock wallclock.Clock
	if ages := m.ages(web, clock.Now()); ages != nil {
		t.Errorf("none was created: %v", ages)
	}
	ref := child.Ref{Kind: child.Ingress, Namespace: namespace, Name: "web"}
	m.created(web, ref, clock.Now())
	m.created(web, child.Ref{Kind: child.Service, Namespace: namespace, Name: "web"}, clock.Now())
	for _, jump := range []time.Duration{0, 3 * time.Hour, -3 * time.Hour} {
		clock.Set(jump)
		ages := m.ages(web, clock.Now().Add(5*time.Second))
		if age, found := ages[ref]; !found || age.Round(5*time.Second) != 5*time.Second || len(ages) != 1 {
			t.Errorf("%s: the ages are %v", jump, ages)
		}
	}
}
