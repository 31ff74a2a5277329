// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// stuckAfter is far above what a sync takes whose every request runs into its timeout.
const stuckAfter = 10 * time.Minute

// watchdog sees workers that do not come back from a key, and keys that no worker takes. Neither
// should ever be; a restart helps against both.
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

// work says that workers run from now on, or do not any more.
func (w *watchdog) work(working bool, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.working = working
	w.taken = at
}

// take says that a worker has taken a key.
func (w *watchdog) take(key cache.ObjectName, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = at
	w.busy[key] = at
}

// done says that the worker is done with the key.
func (w *watchdog) done(key cache.ObjectName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.busy, key)
}

// check returns what is stuck, or nil. waiting is how many keys wait.
func (w *watchdog) check(waiting int, at time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, since := range w.busy {
		if took := at.Sub(since); took > stuckAfter {
			return fmt.Errorf("the sync of Application %s runs for %s", key, took.Round(time.Second))
		}
	}
	if !w.working || waiting == 0 {
		// What comes next has the whole time again.
		w.taken = at
		return nil
	}
	if idle := at.Sub(w.taken); idle > stuckAfter {
		return fmt.Errorf("%d Applications wait, and no worker took one for %s", waiting, idle.Round(time.Second))
	}
	return nil
}
