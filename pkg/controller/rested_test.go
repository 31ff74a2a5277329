// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/pipeline"
)

func TestRest(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name  string
		rests time.Duration
		seen  glance
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
			r := newRested()
			r.note(key("web"), 7, at, test.rests)
			after, still := r.still(key("web"), test.seen, at.Add(test.later))
			if still != test.still || still && after != test.after {
				t.Errorf("still %t, look after %s; want %t, %s", still, after, test.still, test.after)
			}
			r.forget(key("web"))
			if _, still := r.still(key("web"), test.seen, at); still {
				t.Error("it is forgotten, and still at rest")
			}
		})
	}
}

// A sync that was tried too early comes back. When an event was faster, there is nothing left to do then, but what waits
// to settle is written in its time.
func TestRetryAfterTheEvent(t *testing.T) {
	recorder := pipeline.New()
	inWorld(t, setup{begin: withApplications(application("web")), pipeline: recorder}, func(w *world) {
		pass(5 * time.Second) // It has no pods yet: a status that only gets further may wait.
		count := func(wanted pipeline.EventType) int {
			n := 0
			for _, event := range recorder.Events(pipeline.Filter{}).Events {
				if event.Type == wanted {
					n++
				}
			}
			return n
		}
		w.server.HoldWatch(child.Deployment)
		statuses := w.count(statusWrites)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(20 * time.Millisecond)
		if count(pipeline.TypeStale) == 0 {
			w.Fatal("no sync was tried while the cache lagged")
		}
		w.server.ReleaseWatch(child.Deployment)
		pass(10 * time.Millisecond)
		whole := count(pipeline.TypeObserved)
		pass(500 * time.Millisecond)
		if got := count(pipeline.TypeObserved); got != whole || count(pipeline.TypeUnchanged) == 0 {
			w.Errorf("the retry made %d whole syncs and found %d times nothing new", got-whole, count(pipeline.TypeUnchanged))
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

func statusWrites(r applytest.Request) bool {
	return r.Kind == applytest.Applications && r.Subresource == "status"
}
