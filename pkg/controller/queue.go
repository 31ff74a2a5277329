// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"fairlead.dev/fairlead/pkg/debug"
)

const (
	// queueName names the queue in metrics.
	queueName = "applications"
	// A failing key is tried again after firstRetry, then twice that, and so on up to lastRetry.
	// There is no limit over all keys: a token bucket would make the last of 10,000 failed keys
	// wait for a quarter of an hour.
	firstRetry = 50 * time.Millisecond
	lastRetry  = 30 * time.Second
)

// Event is what happened to an object that queued a key.
type Event string

const (
	// Listed: the object was in the list at the start.
	Listed Event = "Listed"
	// Added: the object is new.
	Added Event = "Added"
	// Updated: the object changed.
	Updated Event = "Updated"
	// Deleted: the object is gone.
	Deleted Event = "Deleted"
	// Spread: what many Applications have in common changed, such as their class.
	Spread Event = "Spread"
	// Resynced: nothing happened, but it is time to look again.
	Resynced Event = "Resynced"
	// Due: the sync before this one asked to look again after a while, such as when the status has settled.
	Due Event = "Due"
	// Retried: the sync before this one did not get done.
	Retried Event = "Retried"
)

// patience is how long a key may wait behind keys that were queued later, by the event that
// queued it. Work that nobody waits for lets changes pass, but never for longer than this: so
// nothing starves.
func (e Event) patience() time.Duration {
	switch e {
	case Due:
		// It has waited anyway. On a busy API server a change comes first, and then what the status says of the one before.
		return 5 * time.Second
	case Listed, Resynced:
		return 30 * time.Second
	case Spread:
		// As long as all Applications of a cluster may take: with less, the rest of them would be the
		// most urgent ones by then, and an edit would wait for them all.
		return 10 * time.Minute
	default:
		return 0
	}
}

// Trigger is why a key was queued: the event, and the kind of its object.
type Trigger struct {
	Kind  string
	Event Event
	// Elsewhere: it happened to an object that is not looked at to find an Application at rest; see rested.go.
	Elsewhere bool
}

func (t Trigger) String() string { return t.Kind + string(t.Event) }

// isCause tells whether something happened; otherwise it is only time to look again.
func (e Event) isCause() bool { return e != Resynced && e != Due && e != Retried }

// and is the reason of a key that was queued for two.
func (t Trigger) and(other Trigger) Trigger {
	both := t
	if other.tellsMoreThan(t) {
		both = other
	}
	both.Elsewhere = t.Elsewhere || other.Elsewhere
	return both
}

// tellsMoreThan says which of two reasons counts: the more urgent one. But "nothing happened" never hides that
// something did.
func (t Trigger) tellsMoreThan(other Trigger) bool {
	if t.Event.isCause() != other.Event.isCause() {
		return t.Event.isCause()
	}
	return t.Event.patience() < other.Event.patience()
}

// queue is the work queue: each key at most once, never worked on twice at a time, in the order
// of deadlines.go. It is client-go's; this type adds why a key was queued.
type queue struct {
	workqueue.TypedRateLimitingInterface[cache.ObjectName]
	order *deadlines
	// adding is held from noting a reason to adding its key. Between the two another handler's key would take
	// the reason along, and leave this one to look like a retry, which is urgent.
	adding sync.Mutex
	// delays is nil if nobody wants to know.
	delays *delays
}

// newQueue makes the queue. The recorder, which may be nil, is told what is queued.
func newQueue(recorder *debug.Recorder) *queue {
	order := newDeadlines(recorder)
	limiter := &jitter{workqueue.NewTypedItemExponentialFailureRateLimiter[cache.ObjectName](firstRetry, lastRetry)}
	delaying, delays := recordDelays(recorder, workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[cache.ObjectName]{
		Name: queueName,
		Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[cache.ObjectName]{
			Name:  queueName,
			Queue: order,
		}),
	}), limiter)
	config := workqueue.TypedRateLimitingQueueConfig[cache.ObjectName]{Name: queueName, DelayingQueue: delaying}
	return &queue{
		TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig[cache.ObjectName](limiter, config),
		order:                      order,
		delays:                     delays,
	}
}

// enqueue queues a key for a reason. If the key waits already, the more urgent reason counts.
func (q *queue) enqueue(key cache.ObjectName, trigger Trigger) {
	q.adding.Lock()
	defer q.adding.Unlock()
	q.order.note(key, trigger)
	q.Add(key)
	q.order.recordDirty(key, trigger)
}

// enqueueAfter is enqueue after a while. If the key is queued sooner, for whatever reason, this reason may count then.
func (q *queue) enqueueAfter(key cache.ObjectName, trigger Trigger, after time.Duration) {
	q.order.note(key, trigger)
	if q.delays == nil {
		q.AddAfter(key, after)
		return
	}
	q.delays.addAfterEvent(key, after)
}

// lookAgain queues a key after a while although nothing may happen until then.
func (q *queue) lookAgain(key cache.ObjectName, after time.Duration) {
	q.order.note(key, Trigger{Event: Due})
	q.AddAfter(key, after)
}

// jitter spreads retries by up to a fifth, so that keys which failed together, as in an outage,
// do not come back together.
type jitter struct {
	workqueue.TypedRateLimiter[cache.ObjectName]
}

// When is called for each retry; it counts the failures of the key.
func (j *jitter) When(key cache.ObjectName) time.Duration {
	delay := j.TypedRateLimiter.When(key)
	return delay + rand.N(delay/5+1)
}
