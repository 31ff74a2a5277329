// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// drainTimeout bounds how long a running sync may go on after the controller was told to stop.
const drainTimeout = 20 * time.Second

// work runs the workers until ctx ends. Then it takes no further key and waits for the syncs that
// run, at most drainTimeout: they are not cut in the middle of their writes. Only when lease ends
// they are, since somebody else may write from then on.
func (c *Controller) work(ctx, lease context.Context) {
	logger := klog.FromContext(ctx)
	taking, stopTaking := context.WithCancel(ctx)
	defer stopTaking()
	syncs, stopSyncs := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSyncs()
	interrupt := context.AfterFunc(lease, func() {
		stopTaking()
		stopSyncs()
	})
	defer interrupt()

	logger.Info("Starting workers", "workers", c.Workers)
	c.watchdog.work(true, time.Now())
	var workers sync.WaitGroup
	for range c.Workers {
		workers.Go(func() { c.takeKeys(taking, syncs) })
	}
	workers.Go(func() { c.classes.work(taking, syncs) })
	<-taking.Done()
	logger.Info("Stopping; waiting for running syncs")
	deadline := time.AfterFunc(drainTimeout, stopSyncs)
	defer deadline.Stop()
	c.watchdog.work(false, time.Now())
	c.queue.ShutDown()
	workers.Wait()
	logger.Info("Workers have stopped")
}

// takeKeys takes keys and syncs them until ctx ends. A sync runs under syncs, which lives longer.
func (c *Controller) takeKeys(ctx, syncs context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		trigger, since := c.queue.order.trigger(key)
		if ctx.Err() != nil {
			// The queue hands out its rest after a shutdown. Whoever starts next lists it anyway.
			c.queue.Done(key)
			continue
		}
		if c.queue.Len() == 0 {
			c.CaughtUp()
		}
		c.syncKey(syncs, key, trigger, since)
	}
}

// syncKey syncs one key, which waited since then, and settles it. The logger in ctx carries the key from here on.
func (c *Controller) syncKey(ctx context.Context, key cache.ObjectName, trigger Trigger, since time.Time) {
	defer c.queue.Done(key)
	logger := klog.FromContext(ctx).WithValues("application", klog.KRef(key.Namespace, key.Name))
	ctx = klog.NewContext(ctx, logger)

	start := time.Now()
	c.watchdog.take(key, start)
	defer c.watchdog.done(key)
	record := c.Debug.Started(key, trigger.Kind, string(trigger.Event), since)
	outcome := guard(func() Outcome { return c.syncHandler(ctx, key, trigger, &record) })
	recordOutcome(&record, outcome)
	took := time.Since(start)
	c.Metrics.synced(outcome.Verdict, took)
	logger.V(4).Info("Synced", "trigger", trigger.String(), "verdict", outcome.Verdict, "duration", took)
	c.queue.delays.settles(key, record.ID(), outcome.Verdict)
	c.settle(ctx, key, outcome)
	c.queue.delays.settled(key)
}

// guard turns a panic of a sync into a failure of its key, with the stack, so that one bad
// Application does not stop the others.
func guard(handle func() Outcome) (outcome Outcome) {
	defer func() {
		if recovered := recover(); recovered != nil {
			outcome = Outcome{Verdict: Failed, Err: fmt.Errorf("panic: %v\n%s", recovered, debug.Stack())}
		}
	}()
	return handle()
}
