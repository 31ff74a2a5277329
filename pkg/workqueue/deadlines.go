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

// deadlines orders the ready keys: earliest deadline first, where the deadline is the time of queueing plus the
// longest that the event may wait. It is what client-go's queue calls its storage.
//
// A priority alone would let urgent keys keep others out for ever. With deadlines, a key that may wait becomes the
// most urgent one simply by waiting.
type deadlines struct {
	// mu guards what both the handlers and the queue's lock reach.
	mu sync.Mutex
	// triggers are those of keys that are about to be queued, or are processed: Kubernetes' queue calls these dirty.
	triggers map[cache.ObjectName]Trigger
	// taken are keys between Pop and popped.
	taken    map[cache.ObjectName]Waiting
	heap     deadlineHeap
	sequence uint64
	observer Observer
}

var _ workqueue.Queue[cache.ObjectName] = (*deadlines)(nil)

func newDeadlines(observer Observer) *deadlines {
	return &deadlines{
		triggers: map[cache.ObjectName]Trigger{},
		taken:    map[cache.ObjectName]Waiting{},
		heap:     deadlineHeap{position: map[cache.ObjectName]int{}},
		observer: observer,
	}
}

// note says why a key is about to be queued. client-go's queue passes keys only, so the trigger waits here until
// Push or Touch is called for the key. While the key is processed, that is when Done is called.
func (d *deadlines) note(key cache.ObjectName, trigger Trigger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if noted, found := d.triggers[key]; found {
		trigger = noted.merge(trigger)
	}
	d.triggers[key] = trigger
}

// Push is called for a key that is not ready yet.
func (d *deadlines) Push(key cache.ObjectName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	trigger, now := d.popTrigger(key), time.Now()
	d.sequence++
	waiting := Waiting{Key: key, Trigger: trigger, Since: now, Deadline: now.Add(trigger.Event.maxWait()), sequence: d.sequence}
	heap.Push(&d.heap, waiting)
	d.observer.Enqueued(key, trigger, now, waiting.Deadline)
}

// Touch is called for a key that is ready already: it may have become urgent.
func (d *deadlines) Touch(key cache.ObjectName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	trigger, now := d.popTrigger(key), time.Now()
	deadline := now.Add(trigger.Event.maxWait())
	d.observer.Enqueued(key, trigger, now, deadline)
	position := d.heap.position[key]
	waiting := &d.heap.keys[position]
	waiting.Trigger = waiting.Trigger.merge(trigger)
	if deadline.Before(waiting.Deadline) {
		waiting.Deadline = deadline
		heap.Fix(&d.heap, position)
	}
}

// Len is the number of ready keys.
func (d *deadlines) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.heap.Len()
}

// Pop is never called while Len is 0.
func (d *deadlines) Pop() cache.ObjectName {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, _ := heap.Pop(&d.heap).(Waiting)
	d.taken[next.Key] = next
	return next.Key
}

// popped returns what is known of the key that Pop returned; once.
func (d *deadlines) popped(key cache.ObjectName) Item {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.taken[key]
	delete(d.taken, key)
	return Item{Key: key, Trigger: taken.Trigger, Since: taken.Since}
}

// popTrigger returns the noted trigger. There is none for a retry, nor for a key that was due later, if an event
// queued it before and took the trigger along.
func (d *deadlines) popTrigger(key cache.ObjectName) Trigger {
	trigger, found := d.triggers[key]
	if !found {
		return Trigger{Event: Retried}
	}
	delete(d.triggers, key)
	return trigger
}

// observeDirty tells the observer of a key that is processed; Push and Touch tell it of the others.
func (d *deadlines) observeDirty(key cache.ObjectName, trigger Trigger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, dirty := d.triggers[key]; dirty {
		now := time.Now()
		d.observer.Enqueued(key, trigger, now, now.Add(trigger.Event.maxWait()))
	}
}

// Waiting is a ready key. The sequence keeps keys of one deadline in order.
type Waiting struct {
	Key      cache.ObjectName
	Trigger  Trigger
	Since    time.Time
	Deadline time.Time
	sequence uint64
}

// Ready returns the keys that wait for a worker, in the order in which they will be taken.
func (q *Queue) Ready() []Waiting {
	q.order.mu.Lock()
	ready := slices.Clone(q.order.heap.keys)
	q.order.mu.Unlock()
	slices.SortFunc(ready, func(a, b Waiting) int {
		return cmp.Or(a.Deadline.Compare(b.Deadline), cmp.Compare(a.sequence, b.sequence))
	})
	return ready
}

// IsDirty reports whether a key that is processed was queued again meanwhile.
func (q *Queue) IsDirty(key cache.ObjectName) bool {
	q.order.mu.Lock()
	defer q.order.mu.Unlock()
	_, dirty := q.order.triggers[key]
	return dirty
}

// deadlineHeap implements heap.Interface and knows where each key is.
type deadlineHeap struct {
	keys     []Waiting
	position map[cache.ObjectName]int
}

func (h *deadlineHeap) Len() int { return len(h.keys) }

func (h *deadlineHeap) Less(i, j int) bool {
	if h.keys[i].Deadline.Equal(h.keys[j].Deadline) {
		return h.keys[i].sequence < h.keys[j].sequence
	}
	return h.keys[i].Deadline.Before(h.keys[j].Deadline)
}

func (h *deadlineHeap) Swap(i, j int) {
	h.keys[i], h.keys[j] = h.keys[j], h.keys[i]
	h.position[h.keys[i].Key] = i
	h.position[h.keys[j].Key] = j
}

func (h *deadlineHeap) Push(item any) {
	waiting, _ := item.(Waiting)
	h.position[waiting.Key] = len(h.keys)
	h.keys = append(h.keys, waiting)
}

func (h *deadlineHeap) Pop() any {
	last := len(h.keys) - 1
	item := h.keys[last]
	h.keys[last] = Waiting{}
	h.keys = h.keys[:last]
	delete(h.position, item.Key)
	return item
}
