// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// stuckAfter is far longer than a sync whose every request times out.
const stuckAfter = 10 * time.Minute

// watchdog detects syncs that do not end, and keys that no worker takes. Both are defects, and a restart helps.
type watchdog struct {
	mu      sync.Mutex
	working bool
	// taken is when a worker last took a key, or found the queue empty.
	taken time.Time
	busy  map[cache.ObjectName]time.Time
}

func newWatchdog() *watchdog {
	return &watchdog{busy: map[cache.ObjectName]time.Time{}}
}

// work sets whether workers run.
func (w *watchdog) work(working bool, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = working
	w.taken = at
}

// take records that a worker took a key.
func (w *watchdog) take(key cache.ObjectName, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = at
	w.busy[key] = at
}

// done records that the worker finished the key.
func (w *watchdog) done(key cache.ObjectName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, key)
}

// check returns an error if a worker is stuck. waiting is the number of waiting keys.
func (w *watchdog) check(waiting int, at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, since := range w.busy {
		if took := at.Sub(since); took > stuckAfter {
			return fmt.Errorf("the sync of Application %s has been running for %s", key, took.Round(time.Second))
		}
	}
	if !w.working || waiting == 0 {
		// The next key has the full time again.
		w.taken = at
		return nil
	}
	if idle := at.Sub(w.taken); idle > stuckAfter {
		return fmt.Errorf("%d Applications wait, and none was dequeued for %s", waiting, idle.Round(time.Second))
	}
	return nil
}
