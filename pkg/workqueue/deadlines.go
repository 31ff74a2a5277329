// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// deadlines orders the ready keys: earliest deadline first. The deadline is the time of queueing plus the longest
// that the event may wait. It implements the storage of client-go's queue.
//
// With priorities alone, urgent keys could keep others out for ever. With deadlines, a key that may wait becomes the
// most urgent one simply by waiting.
//
// A namespace may not occupy more than a share of the workers. Its other keys wait, and client-go's queue does not
// count them as ready, until one of the namespace's own syncs ends. So a tenant whose syncs are slow leaves workers
// to the others.
type deadlines struct {
	// mu guards what both handlers and client-go's queue access.
	mu sync.Mutex
	// triggers are those of keys that are about to be queued, or are being processed. client-go's queue calls such
	// keys dirty.
	triggers map[cache.ObjectName]Trigger
	// taken are the keys between Pop and popped.
	taken map[cache.ObjectName]Waiting
	// share is how many keys of a namespace workers may process at once.
	share int
	// namespaces are those with keys that wait or are being processed.
	namespaces map[string]*namespace
	// open are the namespaces that have a waiting key and less than their share of workers.
	open indexedHeap[*namespace]
	// ready is how many keys workers may take now.
	ready    int
	sequence uint64
	observer Observer
}

var _ workqueue.Queue[cache.ObjectName] = (*deadlines)(nil)

func newDeadlines(share int, observer Observer) *deadlines {
	return &deadlines{
		triggers:   map[cache.ObjectName]Trigger{},
		taken:      map[cache.ObjectName]Waiting{},
		share:      share,
		namespaces: map[string]*namespace{},
		observer:   observer,
	}
}

// note records why a key is about to be queued. client-go's queue passes keys only, so the trigger waits here until
// it calls Push or Touch for the key. While a worker processes the key, that happens in Done.
func (d *deadlines) note(key cache.ObjectName, trigger Trigger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if noted, found := d.triggers[key]; found {
		trigger = noted.merge(trigger)
	}
	d.triggers[key] = trigger
}

// Push adds a key that is not waiting yet.
func (d *deadlines) Push(key cache.ObjectName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	trigger, now := d.popTrigger(key), time.Now()
	d.sequence++
	waiting := Waiting{Key: key, Trigger: trigger, Since: now, Deadline: now.Add(trigger.Event.maxWait()), sequence: d.sequence}
	space := d.namespaces[key.Namespace]
	if space == nil {
		space = newNamespace()
		d.namespaces[key.Namespace] = space
	}
	space.push(waiting)
	d.reorder(key.Namespace, space)
	d.observer.Enqueued(key, trigger, now, waiting.Deadline)
}

// Touch updates a key that is already waiting, and may have become urgent.
func (d *deadlines) Touch(key cache.ObjectName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	trigger, now := d.popTrigger(key), time.Now()
	deadline := now.Add(trigger.Event.maxWait())
	d.observer.Enqueued(key, trigger, now, deadline)
	space := d.namespaces[key.Namespace]
	space.touch(key, trigger, deadline)
	d.reorder(key.Namespace, space)
}

// Len returns how many keys workers may take. While it is 0, client-go's queue lets its workers sleep.
func (d *deadlines) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ready
}

// Pop takes the most urgent key. client-go's queue never calls it while Len is 0.
func (d *deadlines) Pop() cache.ObjectName {
	d.mu.Lock()
	defer d.mu.Unlock()
	space := d.open[0]
	next := space.pop()
	space.processing++
	d.reorder(next.Key.Namespace, space)
	d.taken[next.Key] = next
	return next.Key
}

// done returns the worker of a key to the key's namespace. Queue calls it before client-go's Done. If the namespace
// had used up its share, one of its keys becomes ready. No worker wakes for that key, and none has to: the caller of
// done asks for the next key right away, and every other ready key woke a worker when it was added.
func (d *deadlines) done(key cache.ObjectName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	space := d.namespaces[key.Namespace]
	space.processing--
	d.reorder(key.Namespace, space)
}

// reorder restores the order of the namespaces after one has changed, and forgets a namespace without keys.
func (d *deadlines) reorder(name string, space *namespace) {
	ready := min(len(space.waiting), d.share-space.processing)
	d.ready += ready - space.ready
	space.ready = ready
	switch {
	case ready > 0 && space.position < 0:
		heap.Push(&d.open, space)
	case ready > 0:
		heap.Fix(&d.open, space.position)
	case space.position >= 0:
		heap.Remove(&d.open, space.position)
	}
	if len(space.waiting) == 0 && space.processing == 0 {
		delete(d.namespaces, name)
	}
}

// popped returns the Item of the key that Pop returned. It does so once.
func (d *deadlines) popped(key cache.ObjectName) Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.taken[key]
	delete(d.taken, key)
	return Item{Key: key, Trigger: taken.Trigger, Since: taken.Since}
}

// popTrigger removes and returns the noted trigger. A retry has none. Nor has a delayed key if an earlier event
// queued it and took the trigger along.
func (d *deadlines) popTrigger(key cache.ObjectName) Trigger {
	trigger, found := d.triggers[key]
	if !found {
		return Trigger{Event: Retried}
	}
	delete(d.triggers, key)
	return trigger
}

// observeDirty reports a key that is being processed to the observer. Push and Touch report the others.
func (d *deadlines) observeDirty(key cache.ObjectName, trigger Trigger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, dirty := d.triggers[key]; dirty {
		now := time.Now()
		d.observer.Enqueued(key, trigger, now, now.Add(trigger.Event.maxWait()))
	}
}

// Waiting is a key that waits for a worker. The sequence orders keys with equal deadlines.
type Waiting struct {
	Key      cache.ObjectName
	Trigger  Trigger
	Since    time.Time
	Deadline time.Time
	sequence uint64
}

// compare orders by deadline.
func (w Waiting) compare(other Waiting) int {
	return cmp.Or(w.Deadline.Compare(other.Deadline), cmp.Compare(w.sequence, other.sequence))
}

// Ready returns the keys that wait for a worker, in the order of their deadlines. Workers take the keys of a
// namespace that occupies its share of the workers later than in this order.
func (q *Queue) Ready() []Waiting {
	q.order.mu.Lock()
	var ready []Waiting
	for _, space := range q.order.namespaces {
		for _, waiting := range space.waiting {
			ready = append(ready, waiting.Waiting)
		}
	}
	q.order.mu.Unlock()
	slices.SortFunc(ready, Waiting.compare)
	return ready
}

// IsDirty reports whether a key was queued again while a worker processes it.
func (q *Queue) IsDirty(key cache.ObjectName) bool {
	q.order.mu.Lock()
	defer q.order.mu.Unlock()
	_, dirty := q.order.triggers[key]
	return dirty
}
