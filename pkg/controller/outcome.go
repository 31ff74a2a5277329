// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// Verdict is how a sync ended, and so what becomes of its key.
type Verdict string

const (
	// Settled: nothing is left to do. The key waits for an event, or for Outcome.After.
	Settled Verdict = "Settled"
	// Stale: the caches are older than our own writes, or a write met a newer object. The key is
	// tried again soon. It is no error.
	Stale Verdict = "Stale"
	// Invalid: the spec breaks a rule. The key waits for an edit; status says why.
	Invalid Verdict = "Invalid"
	// Blocked: somebody else has to act (quota, policy, permission, a foreign object). The key is
	// tried again with growing delay; a condition says why.
	Blocked Verdict = "Blocked"
	// Failed: something went wrong. The key is tried again with growing delay.
	Failed Verdict = "Failed"
)

// Outcome is what a sync returns.
type Outcome struct {
	Verdict Verdict
	// After is when to look again, for Settled and Invalid. 0: never.
	After time.Duration
	// Err says what went wrong, for Blocked and Failed.
	Err error
}

// failed makes the outcome of an error. A conflict means that the object changed since it was
// read; the change comes as an event too.
func failed(err error) Outcome {
	if apierrors.IsConflict(err) || errors.Is(err, errNamespaceNotCached) {
		return Outcome{Verdict: Stale, Err: err}
	}
	return Outcome{Verdict: Failed, Err: err}
}

// settle does with the key what the outcome asks for. No key is ever dropped: what did not
// settle comes back.
func (c *Controller) settle(ctx context.Context, key cache.ObjectName, outcome Outcome) {
	logger := klog.FromContext(ctx)
	switch outcome.Verdict {
	case Settled, Invalid:
		c.queue.Forget(key)
		if outcome.After > 0 {
			c.queue.lookAgain(key, outcome.After)
		}
	case Stale:
		logger.V(4).Info("Not up to date yet; trying again soon", "cause", outcome.Err)
		c.queue.AddRateLimited(key)
	case Blocked:
		logger.Info("Blocked; trying again later", "cause", outcome.Err, "failures", c.queue.NumRequeues(key)+1)
		c.queue.AddRateLimited(key)
	default:
		if errors.Is(outcome.Err, context.Canceled) {
			logger.V(2).Info("Interrupted by shutdown", "cause", outcome.Err)
		} else {
			logger.Error(outcome.Err, "Sync failed; trying again later", "failures", c.queue.NumRequeues(key)+1)
		}
		if seconds, asked := apierrors.SuggestsClientDelay(outcome.Err); asked && seconds > 0 {
			c.queue.AddAfter(key, time.Duration(seconds)*time.Second)
			return
		}
		c.queue.AddRateLimited(key)
	}
}
