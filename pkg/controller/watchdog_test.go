// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"
)

func TestWatchdog(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	for _, test := range []struct {
		name    string
		before  func(*watchdog)
		waiting int
		now     time.Time
		want    string
	}{
		{"nothing happens", func(*watchdog) {}, 0, at(1000), ""},
		{"a replica that does not lead has keys for ever", func(*watchdog) {}, 5, at(1000), ""},
		{"nothing waits", func(w *watchdog) { w.work(true, at(0)) }, 0, at(1000), ""},
		{"a key is taken now and then", func(w *watchdog) {
			w.work(true, at(0))
			w.take(key("web"), at(55))
			w.done(key("web"))
		}, 5, at(60), ""},
		{"no key is taken", func(w *watchdog) { w.work(true, at(0)) }, 5, at(11), "5 Applications wait, and none was dequeued for 11m0s"},
		{"the queue was empty until now", func(w *watchdog) {
			w.work(true, at(0))
			_ = w.check(0, at(59))
		}, 5, at(60), ""},
		{"a sync that takes its time", func(w *watchdog) {
			w.work(true, at(0))
			w.take(key("web"), at(0))
		}, 0, at(10), ""},
		{"a sync that hangs", func(w *watchdog) {
			w.work(true, at(0))
			w.take(key("web"), at(0))
		}, 0, at(11), "the sync of Application shop/web has been running for 11m0s"},
		{"a stop ends it", func(w *watchdog) {
			w.work(true, at(0))
			w.work(false, at(1))
		}, 5, at(60), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWatchdog()
			test.before(w)
			got := ""
			if err := w.check(test.waiting, test.now); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("it says %q, want %q", got, test.want)
			}
		})
	}
}
