// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// Verdict is the class of an Outcome. It decides when the key returns.
type Verdict string

const (
	// Succeeded means that nothing is left to do. The key waits for an event, or for Outcome.RequeueAfter.
	Succeeded Verdict = "Succeeded"
	// Stale means that the caches are older than our own writes, or that a write met a newer object. It is no error. The
	// key is retried soon.
	Stale Verdict = "Stale"
	// Throttled means that the Application is large, and that its namespace has to wait for a sync of it. It is no error.
	// The key returns after Outcome.RequeueAfter; its backoff stays as it is.
	Throttled Verdict = "Throttled"
	// Invalid means that the spec breaks a rule. The key waits for an edit; the status has the reason.
	Invalid Verdict = "Invalid"
	// Blocked means that a user or another controller must act (quota, policy, permission, an object of another owner).
	// The key is retried with growing delay; a condition has the reason.
	Blocked Verdict = "Blocked"
	// Failed means that an error occurred. The key is retried with growing delay.
	Failed Verdict = "Failed"
)

// Outcome is what a sync returns.
type Outcome struct {
	Verdict Verdict
	// RequeueAfter is the delay of the next sync, for Succeeded, Throttled and Invalid; 0 means none.
	RequeueAfter time.Duration
	// RecheckAfter is the longest delay of the next sync, for Blocked; 0 leaves the delay to the backoff.
	RecheckAfter time.Duration
	// Err is the error, for Blocked and Failed.
	Err error
}

// succeeded returns the outcome of a sync that left nothing to do before the first of the delays ends. A delay of 0 is
// none.
func succeeded(requeueAfter ...time.Duration) Outcome {
	return Outcome{Verdict: Succeeded, RequeueAfter: minNonZero(requeueAfter...)}
}

// outcomeAfterWrite returns the outcome of a write to the Application itself, whose event triggers the next sync.
func outcomeAfterWrite(err error) Outcome {
	if err != nil {
		return failed(err)
	}
	return succeeded()
}

// failed returns the outcome of an error. A conflict means that the object changed since it was read; an event of that
// change follows.
func failed(err error) Outcome {
	if apierrors.IsConflict(err) || errors.Is(err, errNamespaceNotCached) {
		return Outcome{Verdict: Stale, Err: err}
	}
	return Outcome{Verdict: Failed, Err: err}
}

// staleCaches returns the outcome of a sync whose caches have not observed our own last writes.
func staleCaches(resources []schema.GroupVersionResource) Outcome {
	return Outcome{Verdict: Stale, Err: fmt.Errorf("the caches of %v have not observed our last writes", resources)}
}

// throttled returns the outcome of a sync that has to wait.
func throttled(wait time.Duration) Outcome {
	return Outcome{Verdict: Throttled, RequeueAfter: wait}
}

// unless returns the outcome of the error, if there is one, in place of an outcome that waits for an event.
func (o Outcome) unless(err error) Outcome {
	if err == nil || o.Verdict != Succeeded && o.Verdict != Invalid {
		return o
	}
	if !apierrors.IsConflict(err) && apierror.ReasonFor(err) != v1.ReasonApplyFailed {
		return Outcome{Verdict: Blocked, Err: err}
	}
	return failed(err)
}

// handleOutcome decides when the key returns. It drops no key: a sync that did not succeed is retried.
func (c *Controller) handleOutcome(ctx context.Context, key cache.ObjectName, outcome Outcome) {
	logger := klog.FromContext(ctx)
	switch outcome.Verdict {
	case Succeeded, Invalid:
		c.queue.Forget(key)
		if outcome.RequeueAfter > 0 {
			c.queue.AddAfter(key, workqueue.Trigger{Event: workqueue.Requeued}, outcome.RequeueAfter)
		}
		return
	case Throttled:
		logger.V(4).Info("Throttled; requeueing", "delay", outcome.RequeueAfter)
		c.queue.AddAfter(key, workqueue.Trigger{Event: workqueue.Requeued}, outcome.RequeueAfter)
		return
	case Stale:
		logger.V(4).Info("Stale cache; requeueing", "cause", outcome.Err)
		c.queue.Retry(key, 0)
		return
	case Blocked:
		logger.Info("Blocked; requeueing with backoff", "cause", outcome.Err, "failures", c.queue.Failures(key)+1)
		c.queue.Retry(key, 0)
		if outcome.RecheckAfter > 0 {
			c.queue.AddAfter(key, workqueue.Trigger{Event: workqueue.Requeued}, outcome.RecheckAfter)
		}
		return
	}
	if errors.Is(outcome.Err, context.Canceled) {
		logger.V(2).Info("Interrupted by shutdown", "cause", outcome.Err)
	} else {
		logger.Error(outcome.Err, "Sync failed; requeueing with backoff", "failures", c.queue.Failures(key)+1)
	}
	seconds, _ := apierrors.SuggestsClientDelay(outcome.Err)
	c.queue.Retry(key, time.Duration(seconds)*time.Second)
}
