// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"container/heap"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"fairlead.dev/fairlead/pkg/debug"
)

// deadlines is the order of the waiting keys: earliest deadline first, where the deadline is the
// time of queueing plus the patience of the event. It is what the work queue calls its storage.
//
// A priority alone would let urgent keys keep others out for ever. With deadlines a patient key
// becomes the most urgent one simply by waiting.
type deadlines struct {
	// mu guards what the handlers and the work queue's lock both reach.
	mu       sync.Mutex
	noted    map[cache.ObjectName]Trigger
	taken    map[cache.ObjectName]waitingKey
	heap     deadlineHeap
	sequence uint64
	// pipeline is told what is queued; nil: nobody wants to know.
	pipeline *debug.Recorder
}

var _ workqueue.Queue[cache.ObjectName] = (*deadlines)(nil)

func newDeadlines(recorder *debug.Recorder) *deadlines {
	return &deadlines{
		noted:    map[cache.ObjectName]Trigger{},
		taken:    map[cache.ObjectName]waitingKey{},
		heap:     deadlineHeap{position: map[cache.ObjectName]int{}},
		pipeline: recorder,
	}
}

// note says why a key is about to be queued. The work queue passes keys only, so the reason
// waits here until Push or Touch is called for the key; if the key is being worked on, that is
// when the work is done.
func (d *deadlines) note(key cache.ObjectName, trigger Trigger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if waiting, found := d.noted[key]; found {
		trigger = waiting.and(trigger)
	}
	d.noted[key] = trigger
}

// Push is called by the work queue for a key that is not waiting.
func (d *deadlines) Push(key cache.ObjectName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	trigger, at := d.takeNote(key), time.Now()
	d.sequence++
	waiting := waitingKey{key: key, trigger: trigger, since: at, deadline: at.Add(trigger.Event.patience()), sequence: d.sequence}
	heap.Push(&d.heap, waiting)
	d.pipeline.Enqueued(key, trigger.Kind, string(trigger.Event), at, waiting.deadline)
}

// Touch is called by the work queue for a key that waits already: it may have become urgent.
func (d *deadlines) Touch(key cache.ObjectName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	trigger := d.takeNote(key)
	position, at := d.heap.position[key], time.Now()
	deadline := at.Add(trigger.Event.patience())
	d.pipeline.Enqueued(key, trigger.Kind, string(trigger.Event), at, deadline)
	waiting := &d.heap.keys[position]
	waiting.trigger = waiting.trigger.and(trigger)
	if deadline.Before(waiting.deadline) {
		waiting.deadline = deadline
		heap.Fix(&d.heap, position)
	}
}

// Len is the number of waiting keys.
func (d *deadlines) Len() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.heap.Len()
}

// Pop is called by the work queue, never while Len is 0.
func (d *deadlines) Pop() cache.ObjectName {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, _ := heap.Pop(&d.heap).(waitingKey)
	d.taken[next.key] = next
	return next.key
}

// trigger says why the key that a worker just got was queued, and since when it waited; once.
func (d *deadlines) trigger(key cache.ObjectName) (why Trigger, since time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	waited := d.taken[key]
	delete(d.taken, key)
	return waited.trigger, waited.since
}

// takeNote returns the noted reason. There is none for a key that comes back after a failure, nor for one
// that was due later, if an event queued it before and took the reason along.
func (d *deadlines) takeNote(key cache.ObjectName) Trigger {
	trigger, found := d.noted[key]
	if !found {
		return Trigger{Event: Retried}
	}
	delete(d.noted, key)
	return trigger
}

// waitingKey is a key in the heap. The sequence keeps keys of one deadline in order.
type waitingKey struct {
	key      cache.ObjectName
	trigger  Trigger
	since    time.Time
	deadline time.Time
	sequence uint64
}

// deadlineHeap implements heap.Interface and knows where each key is.
type deadlineHeap struct {
	keys     []waitingKey
	position map[cache.ObjectName]int
}

func (h *deadlineHeap) Len() int { return len(h.keys) }

func (h *deadlineHeap) Less(i, j int) bool {
	if h.keys[i].deadline.Equal(h.keys[j].deadline) {
		return h.keys[i].sequence < h.keys[j].sequence
	}
	return h.keys[i].deadline.Before(h.keys[j].deadline)
}

func (h *deadlineHeap) Swap(i, j int) {
	h.keys[i], h.keys[j] = h.keys[j], h.keys[i]
	h.position[h.keys[i].key] = i
	h.position[h.keys[j].key] = j
}

func (h *deadlineHeap) Push(item any) {
	waiting, _ := item.(waitingKey)
	h.position[waiting.key] = len(h.keys)
	h.keys = append(h.keys, waiting)
}

func (h *deadlineHeap) Pop() any {
	last := len(h.keys) - 1
	item := h.keys[last]
	h.keys[last] = waitingKey{}
	h.keys = h.keys[:last]
	delete(h.position, item.key)
	return item
}
