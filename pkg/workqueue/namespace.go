// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"container/heap"
	"time"

	"k8s.io/client-go/tools/cache"
)

// namespace has the keys of one namespace.
type namespace struct {
	// waiting are the keys that wait for a worker, by deadline.
	waiting indexedHeap[*entry]
	byKey   map[cache.ObjectName]*entry
	// processing is how many of its keys workers process.
	processing int
	// ready is how many waiting keys workers may take now.
	ready int
	// position is its index among the open namespaces, or -1.
	position int
}

// entry is a key in a namespace's heap.
type entry struct {
	Waiting
	position int
}

func newNamespace() *namespace {
	return &namespace{byKey: map[cache.ObjectName]*entry{}, position: -1}
}

func (n *namespace) push(waiting Waiting) {
	added := &entry{Waiting: waiting}
	n.byKey[waiting.Key] = added
	heap.Push(&n.waiting, added)
}

// touch merges another trigger into that of a key, and moves the key forward if its deadline is now earlier.
func (n *namespace) touch(key cache.ObjectName, trigger Trigger, deadline time.Time) {
	touched := n.byKey[key]
	touched.Trigger = touched.Trigger.merge(trigger)
	if deadline.Before(touched.Deadline) {
		touched.Deadline = deadline
		heap.Fix(&n.waiting, touched.position)
	}
}

func (n *namespace) pop() Waiting {
	first := n.waiting[0]
	heap.Remove(&n.waiting, 0)
	delete(n.byKey, first.Key)
	return first.Waiting
}

// before orders open namespaces by their most urgent key.
func (n *namespace) before(other *namespace) bool { return n.waiting[0].before(other.waiting[0]) }

func (n *namespace) moved(position int) { n.position = position }

func (e *entry) before(other *entry) bool { return e.compare(other.Waiting) < 0 }

func (e *entry) moved(position int) { e.position = position }

// indexedHeap implements heap.Interface over elements that know their position, so that an element whose order
// changes can be moved.
type indexedHeap[E element[E]] []E

type element[E any] interface {
	before(other E) bool
	// moved tells the element its position, or -1 when it leaves the heap.
	moved(position int)
}

func (h indexedHeap[E]) Len() int { return len(h) }

func (h indexedHeap[E]) Less(i, j int) bool { return h[i].before(h[j]) }

func (h indexedHeap[E]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].moved(i)
	h[j].moved(j)
}

func (h *indexedHeap[E]) Push(item any) {
	added, _ := item.(E)
	added.moved(len(*h))
	*h = append(*h, added)
}

func (h *indexedHeap[E]) Pop() any {
	var none E
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last] = none
	*h = (*h)[:last]
	item.moved(-1)
	return item
}
