// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/debug"
)

// queueState returns the state of the queue for the live view. It reads each part at its own moment, so it may miss a
// key that moves meanwhile, or list it twice.
func (c *Controller) queueState(observed *observedQueue, limit int) debug.QueueState {
	ready, delayed := c.readyKeys(), observed.delayedKeys()
	processing, working := c.watchdog.processing()
	state := debug.QueueState{
		Working:    working,
		Counts:     debug.QueueCounts{Ready: len(ready), Processing: len(processing), Delayed: len(delayed), Workers: c.Workers},
		Ready:      ready[:min(limit, len(ready))],
		Processing: processing[:min(limit, len(processing))],
		Delayed:    delayed[:min(limit, len(delayed))],
	}
	for i := range processing {
		if key := &processing[i]; c.queue.IsDirty(cache.ObjectName{Namespace: key.Namespace, Name: key.Name.Name}) {
			key.State = debug.KeyDirty
			state.Counts.Dirty++
		}
	}
	return state
}

// readyKeys returns the keys that wait for a worker, in the order in which workers take them.
func (c *Controller) readyKeys() []debug.Key {
	ready := c.queue.Ready()
	keys := make([]debug.Key, 0, len(ready))
	for _, w := range ready {
		keys = append(keys, debug.Key{
			Name: debug.Name(w.Key), State: debug.KeyReady, Trigger: w.Trigger.String(), Since: &w.Since, Deadline: &w.Deadline,
		})
	}
	return keys
}

// delayedKeys returns the keys that wait for their time, the earliest first.
func (q *observedQueue) delayedKeys() []debug.Key {
	q.mu.Lock()
	q.sweep(time.Now())
	keys := make([]debug.Key, 0, len(q.delayed))
	for key, delayed := range q.delayed {
		keys = append(keys, debug.Key{Name: debug.Name(key), State: debug.KeyDelayed, Due: &delayed.due, Failures: delayed.failures})
	}
	q.mu.Unlock()
	slices.SortFunc(keys, func(a, b debug.Key) int {
		return cmp.Or(a.Due.Compare(*b.Due), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name.Name, b.Name.Name))
	})
	return keys
}

// processing returns the keys that workers process, the oldest first, and whether the workers run.
func (w *watchdog) processing() (keys []debug.Key, working bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys = make([]debug.Key, 0, len(w.busy))
	for key, since := range w.busy {
		keys = append(keys, debug.Key{Name: debug.Name(key), State: debug.KeyProcessing, Since: &since})
	}
	slices.SortFunc(keys, func(a, b debug.Key) int { return a.Since.Compare(*b.Since) })
	return keys, w.working
}
