// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workqueue is client-go's work queue with an order and with triggers. Each key waits at most once, and two
// workers never process it at the same time. Workers take keys by deadline, and no namespace gets all workers; see
// deadlines.go. A worker learns why its key was queued. The package does not know what the keys stand for.
package workqueue

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// A failing key is retried after baseDelay, then twice that, and so on up to maxDelay. There is no overall rate limit:
// with a token bucket, the last of 10,000 failed keys would wait for a quarter of an hour.
const (
	baseDelay = 50 * time.Millisecond
	maxDelay  = 30 * time.Second
)

// Item is a key that a worker has taken.
type Item struct {
	Key cache.ObjectName
	// Trigger is why the key was queued.
	Trigger Trigger
	// Since is when the key became ready.
	Since time.Time
}

// Observer observes the queue. Its methods run under the queue's locks: they must not block or call the queue.
type Observer interface {
	// Enqueued is called when a key is ready, or will be once its running sync has ended.
	Enqueued(key cache.ObjectName, trigger Trigger, now, deadline time.Time)
	// Delayed is called when a key will become ready at due, unless an event queues it sooner. failures counts its
	// retries; it is 0 for a key that is not a retry.
	Delayed(key cache.ObjectName, event Event, failures int, due time.Time)
}

// Queue is the work queue. Create it with New.
type Queue struct {
	queue   workqueue.TypedDelayingInterface[cache.ObjectName]
	order   *deadlines
	limiter workqueue.TypedRateLimiter[cache.ObjectName]
	// adding is held from noting a trigger until its key is added. In between, another handler's add of the key would
	// take the trigger along, and this add would look like a retry, which is urgent.
	adding   sync.Mutex
	observer Observer
}

// New creates a Queue. The name is that of its metrics. Workers process at most share keys of a namespace at once.
// The observer may be nil.
func New(name string, share int, observer Observer) *Queue {
	if observer == nil {
		observer = unobserved{}
	}
	order := newDeadlines(share, observer)
	return &Queue{
		order: order,
		queue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[cache.ObjectName]{
			Name:  name,
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[cache.ObjectName]{Name: name, Queue: order}),
		}),
		limiter:  workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](baseDelay, maxDelay),
		observer: observer,
	}
}

// Add queues a key. If the key is already waiting, the trigger that outranks the other counts.
func (q *Queue) Add(key cache.ObjectName, trigger Trigger) {
	q.adding.Lock()
	defer q.adding.Unlock()
	q.order.note(key, trigger)
	q.queue.Add(key)
	q.order.observeDirty(key, trigger)
}

// AddAfter is Add after a delay. If an event queues the key sooner, this trigger may count then.
func (q *Queue) AddAfter(key cache.ObjectName, trigger Trigger, delay time.Duration) {
	q.order.note(key, trigger)
	q.addAfter(key, trigger.Event, 0, delay)
}

// Retry queues a failed key after a delay that grows with each failure, until Forget is called. If the API server
// suggested a delay, Retry uses that instead.
func (q *Queue) Retry(key cache.ObjectName, suggested time.Duration) {
	delay := suggested
	if delay <= 0 {
		delay = q.limiter.When(key)
		delay += rand.N(delay/5 + 1) // Keys that failed together, as in an outage, must not be retried together.
	}
	q.addAfter(key, Retried, q.limiter.NumRequeues(key), delay)
}

func (q *Queue) addAfter(key cache.ObjectName, event Event, failures int, delay time.Duration) {
	if delay > 0 {
		q.observer.Delayed(key, event, failures, time.Now().Add(delay))
	}
	q.queue.AddAfter(key, delay)
}

// Forget marks the key as succeeded: its next retry has the smallest delay again.
func (q *Queue) Forget(key cache.ObjectName) { q.limiter.Forget(key) }

// Failures returns how often the key was retried since its last success.
func (q *Queue) Failures(key cache.ObjectName) int { return q.limiter.NumRequeues(key) }

// Get waits for a key and takes it. The caller must call Done for it.
func (q *Queue) Get() (item Item, shutdown bool) {
	key, shutdown := q.queue.Get()
	if shutdown {
		return Item{}, true
	}
	return q.order.popped(key), false
}

// Done marks the key as processed. If it was queued meanwhile, it waits again. The caller must call Get next, or have
// shut the queue down: Done may have made another key ready, and wakes no other worker for it.
func (q *Queue) Done(key cache.ObjectName) {
	q.order.done(key)
	q.queue.Done(key)
}

// Len returns how many keys workers may take now. Keys of a namespace that occupies its share of workers do not
// count.
func (q *Queue) Len() int { return q.queue.Len() }

// ShutDown lets workers take the remaining keys, and accepts no more.
func (q *Queue) ShutDown() { q.queue.ShutDown() }

// unobserved is the Observer of a queue without one.
type unobserved struct{}

func (unobserved) Enqueued(cache.ObjectName, Trigger, time.Time, time.Time) {}
func (unobserved) Delayed(cache.ObjectName, Event, int, time.Time)          {}
