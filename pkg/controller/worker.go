// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/workqueue"
)

// drainTimeout limits how long running syncs may continue after ctx has ended.
const drainTimeout = 20 * time.Second

// work runs the workers until ctx ends. Then they take no further key, and work waits at most drainTimeout for the
// running syncs, so that it does not interrupt their writes. The end of lease interrupts them, because another replica
// may write from then on.
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
	c.watchdog.work(true, c.Now())
	var workers sync.WaitGroup
	for range c.Workers {
		workers.Go(func() { c.runWorker(taking, syncs) })
	}
	workers.Go(func() { c.classes.work(taking, syncs) })
	<-taking.Done()
	logger.Info("Stopping; waiting for running syncs")
	deadline := time.AfterFunc(drainTimeout, stopSyncs)
	defer deadline.Stop()
	c.watchdog.work(false, c.Now())
	c.queue.ShutDown()
	workers.Wait()
	logger.Info("Workers have stopped")
}

// runWorker takes keys and processes them until ctx ends. Syncs use the context syncs, which ends later.
func (c *Controller) runWorker(ctx, syncs context.Context) {
	for {
		item, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if ctx.Err() != nil {
			// After a shutdown the queue hands out its remaining keys. The next leader lists them anyway.
			c.queue.Done(item.Key)
			continue
		}
		c.processKey(syncs, item)
	}
}

// processKey syncs one key, and decides when it returns. From here on the logger in ctx has the key.
func (c *Controller) processKey(ctx context.Context, item workqueue.Item) {
	defer c.queue.Done(item.Key)
	logger := klog.FromContext(ctx).WithValues("application", klog.KRef(item.Key.Namespace, item.Key.Name))
	ctx = klog.NewContext(ctx, logger)

	start := c.Now()
	c.watchdog.take(item.Key, start)
	defer c.watchdog.done(item.Key)
	outcome := c.stages.syncKey(ctx, item)
	took := c.Now().Sub(start)
	c.Metrics.synced(outcome.Verdict, took)
	if c.memory.endTurn(item.Key) {
		c.throttled.synced(item.Key.Namespace, took)
	}
	logger.V(4).Info("Synced", "trigger", item.Trigger.String(), "verdict", outcome.Verdict, "duration", took)
	c.handleOutcome(ctx, item.Key, outcome)
}

// syncKey calls the syncHandler for a key.
func (c *Controller) syncKey(ctx context.Context, item workqueue.Item) Outcome {
	return recoverPanic(func() Outcome { return c.syncHandler(ctx, item.Key, item.Trigger) })
}

// recoverPanic turns a panic of a sync into a failure of its key, with the stack, so that one bad Application does not
// stop the others.
func recoverPanic(handle func() Outcome) (outcome Outcome) {
	defer func() {
		if recovered := recover(); recovered != nil {
			outcome = Outcome{Verdict: Failed, Err: fmt.Errorf("panic: %v\n%s", recovered, debug.Stack())}
		}
	}()
	return handle()
}
