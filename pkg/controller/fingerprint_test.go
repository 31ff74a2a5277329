// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/workqueue"
)

func TestMatches(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name  string
		rests time.Duration
		seen  fingerprint
		later time.Duration
		after time.Duration
		still bool
	}{
		{"as it was", 0, 7, time.Hour, 0, true},
		{"something changed", 0, 8, 0, 0, false},
		{"it is gone", 0, 0, 0, 0, false},
		{"before its time", time.Minute, 7, 59 * time.Second, time.Second, true},
		{"at its time", time.Minute, 7, time.Minute, 0, false},
		{"after its time", time.Minute, 7, time.Hour, 0, false},
		{"something changed before its time", time.Minute, 8, 0, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newMemory(consistency.NewStore())
			r.noteQuiet(key("web"), 7, at, test.rests)
			after, still := r.matches(key("web"), test.seen, at.Add(test.later))
			if still != test.still || still && after != test.after {
				t.Errorf("still %t, look after %s; want %t, %s", still, after, test.still, test.after)
			}
			r.forgetFingerprint(key("web"))
			if _, still := r.matches(key("web"), test.seen, at); still {
				t.Error("it is forgotten, and still at rest")
			}
		})
	}
}

// What was written is looked at as if it had been seen, if a whole sync looks at it soon.
func TestExpectedFingerprint(t *testing.T) {
	r := newMemory(consistency.NewStore())
	object := func(uid types.UID, resourceVersion string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: resourceVersion}}
	}
	seen := func(objects ...*corev1.Service) (sum fingerprint) {
		for _, o := range objects {
			sum += fingerprint(r.hash(versionOf(child.Service.Kind, o)))
		}
		return sum
	}
	written := func(action plan.Action, live child.Object, to *corev1.Service) plan.Result {
		return plan.Result{
			Step: plan.Step{Action: action, Ref: child.Ref{Kind: child.Service}, Live: live},
			UID:  to.UID, ResourceVersion: to.ResourceVersion,
		}
	}
	for _, test := range []struct {
		name    string
		seen    fingerprint
		results []plan.Result
		full    time.Duration
		want    fingerprint
	}{
		{"nothing was written", 7, []plan.Result{written(plan.Keep, object("a", "1"), object("a", "1"))}, 0, 7},
		{"created and applied", seen(object("a", "1")), []plan.Result{
			written(plan.Apply, object("a", "1"), object("a", "3")), written(plan.Create, nil, object("b", "2")),
		}, statusBatchPeriod, seen(object("a", "3"), object("b", "2"))},
		{"applied without effect", seen(object("a", "1")), []plan.Result{written(plan.Apply, object("a", "1"), object("a", "1"))}, 0, seen(object("a", "1"))},
		{"nobody looks again", seen(object("a", "1")), []plan.Result{written(plan.Apply, object("a", "1"), object("a", "3"))}, 0, 0},
		{"somebody looks again, much later", seen(object("a", "1")), []plan.Result{written(plan.Apply, object("a", "1"), object("a", "3"))}, time.Minute, 0},
		{"deleted", seen(object("a", "1")), []plan.Result{written(plan.Delete, object("a", "1"), object("a", "1"))}, statusBatchPeriod, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := r.expected(test.seen, test.results, test.full); got != test.want {
				t.Errorf("it is %x, want %x", got, test.want)
			}
		})
	}
}

// A sync that was tried too early comes back. When an event was faster, there is nothing left to do then, but what waits
// to settle is written in its time.
func TestRetryAfterTheEvent(t *testing.T) {
	recorder := debug.New()
	inWorld(t, setup{begin: withApplications(application("web")), pipeline: recorder}, func(w *world) {
		pass(5 * time.Second) // It has no pods yet: a status that only gets further may wait.
		count := func(wanted debug.EventType) int { return countEvents(recorder, wanted) }
		w.server.HoldWatch(child.Deployment)
		statuses := w.count(statusWrites)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(20 * time.Millisecond)
		if count(debug.TypeStale) == 0 {
			w.Fatal("no sync was tried while the cache lagged")
		}
		w.server.ReleaseWatch(child.Deployment)
		pass(10 * time.Millisecond)
		whole := count(debug.TypeObserved)
		pass(500 * time.Millisecond)
		if got := count(debug.TypeObserved); got != whole || count(debug.TypeUnchanged) == 0 {
			w.Errorf("the retry made %d whole syncs and found %d times nothing new", got-whole, count(debug.TypeUnchanged))
		}
		if got := w.count(statusWrites); got != statuses {
			w.Errorf("%d writes of status before it has settled", got-statuses)
		}
		pass(time.Second)
		if got := w.count(statusWrites); got != statuses+1 {
			w.Errorf("%d writes of status, want 1", got-statuses)
		}
	})
}

// The events of what a sync has written tell nothing new: they make no whole sync. A change by others among them does,
// and so does the end of the time in which the status settles.
func TestEventsOfOwnWrites(t *testing.T) {
	recorder := debug.New()
	whole := func() int { return wholeSyncs(recorder) }
	inWorld(t, setup{begin: withApplications(application("web")), pipeline: recorder}, func(w *world) {
		pass(5 * time.Second)
		before := whole()
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(500 * time.Millisecond)
		if got := whole() - before; w.image("web") != "registry.example.com/web:2" || got != 1 {
			w.Fatalf("%d whole syncs, and the image is %s; want 1 that changes it", got, w.image("web"))
		}
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:3" })
		pass(10 * time.Millisecond)
		applytest.Edit(w.server, child.Deployment, namespace, "web", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Image = "registry.example.com/web:4"
		})
		pass(10 * time.Millisecond)
		if got := whole() - before; w.image("web") != "registry.example.com/web:3" || got != 3 {
			w.Errorf("%d whole syncs, and the image is %s; want 3 for two changes and one by others", got, w.image("web"))
		}
		pass(time.Second)
		if got := whole() - before; got <= 3 {
			w.Error("nobody looked at what became of the writes")
		}
	})
}

// What happened elsewhere is not forgotten because the caches are stale when a sync is due to it.
func TestElsewhereWhileStale(t *testing.T) {
	recorder := debug.New()
	inWorld(t, setup{begin: withApplications(application("web")), pipeline: recorder}, func(w *world) {
		pass(5 * time.Second)
		w.server.HoldWatch(child.Deployment)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(20 * time.Millisecond)
		w.controller.queue.Add(key("web"), workqueue.Trigger{Kind: "Secret", Event: workqueue.Added, ForceFullSync: true})
		synctest.Wait()
		whole := wholeSyncs(recorder)
		w.server.ReleaseWatch(child.Deployment)
		pass(500 * time.Millisecond)
		if got := wholeSyncs(recorder) - whole; got != 1 {
			w.Errorf("%d whole syncs, want 1", got)
		}
	})
}

// wholeSyncs is how many syncs went on after they had looked at the Application.
func wholeSyncs(recorder *debug.Recorder) int {
	return countEvents(recorder, debug.TypeObserved) - countEvents(recorder, debug.TypeStale)
}

func countEvents(recorder *debug.Recorder, wanted debug.EventType) (n int) {
	for _, event := range recorder.Events(debug.Filter{}).Events {
		if event.Type == wanted {
			n++
		}
	}
	return n
}

func statusWrites(r applytest.Request) bool {
	return r.Kind == applytest.Applications && r.Subresource == "status"
}
