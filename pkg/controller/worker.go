// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// work takes keys and syncs them until ctx ends. A sync runs under syncCtx, which lives longer,
// so that a stop does not cut it in the middle of its writes.
func (c *Controller) work(ctx, syncCtx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		trigger := c.queue.order.trigger(key)
		if ctx.Err() != nil {
			// The queue hands out its rest after a shutdown. Whoever starts next lists it anyway.
			c.queue.Done(key)
			continue
		}
		c.syncKey(syncCtx, key, trigger)
	}
}

// syncKey syncs one key and settles it. The logger in ctx carries the key from here on.
func (c *Controller) syncKey(ctx context.Context, key cache.ObjectName, trigger Trigger) {
	defer c.queue.Done(key)
	logger := klog.FromContext(ctx).WithValues("application", klog.KRef(key.Namespace, key.Name))
	ctx = klog.NewContext(ctx, logger)

	start := time.Now()
	outcome := guard(func() Outcome { return c.syncHandler(ctx, key) })
	logger.V(4).Info("Synced", "trigger", trigger.String(), "verdict", outcome.Verdict, "duration", time.Since(start))
	c.settle(ctx, key, outcome)
}

// guard turns a panic of a sync into a failure of its key, with the stack, so that one bad
// Application does not stop the others.
func guard(sync func() Outcome) (outcome Outcome) {
	defer func() {
		if recovered := recover(); recovered != nil {
			outcome = Outcome{Verdict: Failed, Err: fmt.Errorf("panic: %v\n%s", recovered, debug.Stack())}
		}
	}()
	return sync()
}
