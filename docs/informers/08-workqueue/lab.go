// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package workqueue puts keys into a work queue, with a fake clock.
package workqueue

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// queue is the queue of the lab.
type queue struct {
	workqueue.TypedRateLimitingInterface[string]
	clock *clocktesting.FakeClock
	lab   *lab.Lab
}

// Lab needs no cluster.
func Lab(ctx context.Context, l *lab.Lab) error {
	clock := clocktesting.NewFakeClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, time.Minute)
	q := &queue{
		TypedRateLimitingInterface: workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[string]{Clock: clock}),
		clock:                      clock,
		lab:                        l,
	}
	defer q.ShutDown()

	l.Step("three events, one key")
	q.Add("ida")
	q.Add("ida")
	q.Add("ida")
	q.say()

	l.Step("it is added again while a worker has it")
	key, _ := q.Get()
	q.say()
	q.Add(key)
	q.say()
	l.Say("it is dirty, not ready: no other worker can get it")
	q.Done(key)
	l.Say("Done")
	q.say()
	key, _ = q.Get()
	q.Done(key)

	l.Step("failures: the limiter says how long to wait")
	for range 8 {
		l.Say("failure %d: wait %s", q.NumRequeues("moby")+1, limiter.When("moby"))
	}
	q.Forget("moby")
	l.Say("Forget; failures %d", q.NumRequeues("moby"))

	if err := delays(ctx, q); err != nil {
		return err
	}

	l.Step("the default limiter has one bucket for all keys: 10 a second, after a burst of 100")
	bucket := &workqueue.TypedBucketRateLimiter[int]{Limiter: rate.NewLimiter(10, 100)}
	var last time.Duration
	for i := range 10_000 {
		last = bucket.When(i)
	}
	l.Say("of 10000 keys that fail at once, the last waits %s", (last + time.Second - 1).Truncate(time.Second))

	l.Step("shutdown")
	q.Add("ida")
	key, _ = q.Get()
	q.Add("moby")
	go q.ShutDownWithDrain()
	if err := lab.Eventually(ctx, "the shutdown", func(context.Context) (bool, error) { return q.ShuttingDown(), nil }); err != nil {
		return err
	}
	q.Add("nemo")
	l.Say("nemo is refused")
	q.Done(key)
	for {
		key, shutdown := q.Get()
		l.Say("Get: %q, shutdown %t", key, shutdown)
		if shutdown {
			return nil
		}
		q.Done(key)
	}
}

func (q *queue) say() { q.lab.Say("ready: %d", q.Len()) }

// delays shows what AddAfter promises, and what it does not.
func delays(ctx context.Context, q *queue) error {
	q.lab.Step("a delay of an hour, then one of a minute: the sooner one counts")
	q.AddAfter("nemo", time.Hour)
	q.AddAfter("nemo", time.Minute)
	if err := q.noticed(ctx); err != nil {
		return err
	}
	if err := q.pass(ctx, time.Minute, 1); err != nil {
		return err
	}
	key, _ := q.Get()
	q.Done(key)
	if err := q.pass(ctx, time.Hour, 0); err != nil {
		return err
	}

	q.lab.Step("a delay is not cancelled by an Add: the key comes twice")
	q.AddAfter("nemo", time.Minute)
	q.Add("nemo")
	q.say()
	key, _ = q.Get()
	q.Done(key)
	if err := q.pass(ctx, time.Minute, 1); err != nil {
		return err
	}
	key, _ = q.Get()
	q.Done(key)
	return nil
}

// heartbeat is how often the queue checks its delays without a timer. Only steps of at least that are safe: a timer that the
// queue sets while the fake clock is stepped is late by the step.
const heartbeat = 10 * time.Second

// noticed waits until the queue has accepted all calls of AddAfter. It accepts them in order, on a separate goroutine, so a
// last key marks the end.
func (q *queue) noticed(ctx context.Context) error {
	q.AddAfter("last", heartbeat)
	q.clock.Step(heartbeat)
	err := lab.Eventually(ctx, "the queue to take in the delays", func(context.Context) (bool, error) { return q.Len() == 1, nil })
	if err != nil {
		return err
	}
	key, _ := q.Get()
	q.Done(key)
	if key != "last" {
		return fmt.Errorf("%s came, which was not due", key)
	}
	return nil
}

// pass lets time pass, and waits for the keys to be ready.
func (q *queue) pass(ctx context.Context, d time.Duration, ready int) error {
	q.clock.Step(d)
	if ready == 0 {
		if err := q.noticed(ctx); err != nil {
			return err
		}
	}
	err := lab.Eventually(ctx, "the delay to end", func(context.Context) (bool, error) { return q.Len() == ready, nil })
	q.lab.Say("after %s:", d)
	q.say()
	return err
}
