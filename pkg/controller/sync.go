// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/status"
)

// syncHandler brings one Application, its children and its status together: observe, is it
// fresh, what is wanted, render, plan, apply, report. It is level-driven: it acts on what is, not on
// what happened, so it may be called at any time and as often as anyone likes.
//
// stages is told of each stage that ends.
func (c *Controller) syncHandler(ctx context.Context, key cache.ObjectName, trigger Trigger, stages *debug.SyncRecorder) Outcome {
	// Asked before the caches are read: what is read afterwards is at least as new as the answer. The
	// other way round, a cache that catches up in between would vouch for an older snapshot.
	stale := c.ConsistencyStore.Stale(key, c.Informers)
	seen, err := c.rested.glance(c.Informers, key)
	if err != nil {
		return failed(err)
	}
	if trigger.Elsewhere {
		c.rested.forget(key) // At once: a sync that comes back because the caches are stale has no reason any more.
	} else if len(stale) == 0 {
		// An earlier sync may have asked for a later look than the one that brought the key here: of the two the work
		// queue keeps the earlier one only, so it is asked for again.
		if after, still := c.rested.still(key, seen, time.Now()); still {
			stages.Unchanged()
			return Outcome{Verdict: Settled, After: after}
		}
	}
	snapshot, found, err := c.observe(key)
	if err != nil {
		return failed(err)
	}
	if !found {
		stages.NotFound()
		c.forget(key)
		return Outcome{Verdict: Settled}
	}
	stages.Observed(len(snapshot.Children))
	application := snapshot.Application
	if len(stale) > 0 {
		stages.Stale(stale[0].GroupResource().String())
		return Outcome{Verdict: Stale, Err: fmt.Errorf("the caches of %v are older than our last write", stale)}
	}
	stages.Fresh()
	c.rested.forget(key)
	if application.DeletionTimestamp != nil {
		c.grants.forget(key) // What was granted is live by now, or will not be written any more.
		return c.finalize(ctx, stages, snapshot)
	}
	unowned, changed, err := c.followDeletionPolicy(stages.Context(ctx), snapshot)
	if changed || err != nil {
		return awaitEvent(err)
	}
	if application.Spec.ReconcilePolicy == v1.ReconcileSuspend {
		c.grants.forget(key)
		_, holdFor := c.repairBackoff.InBackoff(application.UID, time.Now())
		return awaitEvent(unowned.err()).lookAgain(holdFor)
	}
	rollout := health.Assess(snapshot, time.Now())
	wanted, err := c.want(snapshot, rollout)
	if err != nil {
		return failed(err)
	}
	snapshot.Class = wanted.class
	if len(wanted.invalid) > 0 {
		return c.report(ctx, stages, status.Input{Snapshot: snapshot, Health: rollout, Invalid: wanted.invalid, InvalidReason: wanted.invalidReason}).unless(unowned.err())
	}
	choice := wanted.choice
	uses, err := c.observeReferences(ctx, snapshot, choice.Application)
	if err != nil || uses.pending {
		return awaitEvent(err)
	}
	record, err := choice.Record(uses.hashes.ConfigMaps.Hash, uses.hashes.Secrets.Hash)
	if err != nil {
		return failed(err)
	}
	facts := c.Facts
	facts.References, facts.Revision = uses.hashes, rendered(record)
	httpRoutes, unserved := snapshot.Unavailable[child.HTTPRoute]
	facts.WithoutHTTPRoutes = unserved && !httpRoutes.ListFailed
	desired, err := render.Children(choice.Application, facts)
	if err != nil {
		return failed(fmt.Errorf("render: %w", err))
	}
	if snapshot, err = c.observeUnseen(ctx, snapshot, desired); err != nil {
		return failed(err)
	}
	stages.Rendered(len(desired))
	held, holdFor := c.repairBackoff.InBackoff(application.UID, time.Now())
	steps, err := plan.Compute(c.Differ, plan.Input{
		Snapshot: snapshot,
		Desired:  desired,
		Kept:     keptRevisions(application, record),
		Held:     held,
		Applied:  c.repairBackoff.LastApplied(application.UID),
		Missing:  uses.missingMessage(),
	})
	if err != nil {
		return failed(fmt.Errorf("plan: %w", err))
	}
	if recordPlan(stages, steps) {
		ctx = stages.Context(ctx)
	}
	if going, err := c.isGoing(ctx, application, steps); going || err != nil {
		return awaitEvent(err)
	}
	results := unowned.mark(c.write(ctx, application, steps))
	stages.Applied()
	outcome := c.report(ctx, stages, status.Input{
		Snapshot:   snapshot,
		Health:     rollout,
		Results:    results,
		Revision:   record.Status,
		RolledBack: record.Condition,
		URLs:       status.ServedURLs(snapshot, results, render.URLs(choice.Application, facts)),
		Autoscaled: render.Autoscaled(application),
		Missing:    uses.missingMessage(),
		Unwatched:  uses.unfollowedMessage(),
	})
	outcome = outcome.lookAgain(holdFor).lookAgain(uses.settles).lookAgain(uses.retry).unless(unowned.err())
	// What may not be read is asked for again by each sync: no event tells of a permission.
	if outcome.Verdict == Settled && len(uses.unfollowed) == 0 {
		c.rested.note(key, c.rested.afterwards(seen, results, outcome.After), time.Now(), outcome.After)
	}
	return outcome
}

// write does the steps, unless the Application only wants to be observed.
func (c *Controller) write(ctx context.Context, application *v1.Application, steps []plan.Step) []plan.Result {
	if application.Spec.ReconcilePolicy == v1.ReconcileObserve {
		return planned(steps)
	}
	results := c.Writer.Do(ctx, application, steps)
	for _, result := range results {
		c.announce(application, result)
		c.announceConfigChange(application, result)
		switch {
		case !result.Changed():
		case result.Drift:
			c.repairBackoff.Repaired(application.UID, result.Ref, time.Now())
		case result.Action == plan.Apply, result.Action == plan.Scale:
			c.repairBackoff.Applied(application.UID, result.Ref, result.Rendering(), time.Now())
		}
	}
	return results
}

// planned are the results of steps that nobody did: each child with the UID it has.
func planned(steps []plan.Step) []plan.Result {
	results := make([]plan.Result, 0, len(steps))
	for _, step := range steps {
		result := plan.Result{Step: step}
		if step.Live != nil {
			result.UID = step.Live.GetUID()
		}
		results = append(results, result)
	}
	return results
}

// forget drops what is remembered about an Application that is gone. What is remembered by its
// UID runs out by itself.
func (c *Controller) forget(key cache.ObjectName) {
	c.ConsistencyStore.Clear(key)
	c.Informers.SetReferences(key, nil)
	c.rested.forget(key)
	c.deferred.forget(key)
	c.grants.forget(key)
}

// awaitEvent is the outcome of a write to the Application itself: its event brings the next sync.
func awaitEvent(err error) Outcome {
	if err != nil {
		return failed(err)
	}
	return Outcome{Verdict: Settled}
}

// lookAgain makes an outcome that would wait for an event come back after d at the latest.
// Others come back by themselves.
func (o Outcome) lookAgain(d time.Duration) Outcome {
	waits := o.Verdict == Settled || o.Verdict == Invalid
	if waits && d > 0 && (o.After == 0 || d < o.After) {
		o.After = d
	}
	return o
}

// unless makes a failure of an outcome that would wait for an event, if there was an error.
func (o Outcome) unless(err error) Outcome {
	if err == nil || o.Verdict != Settled && o.Verdict != Invalid {
		return o
	}
	if !apierrors.IsConflict(err) && apierror.ReasonFor(err) != v1.ReasonApplyFailed {
		return Outcome{Verdict: Blocked, Err: err}
	}
	return failed(err)
}

// ownedChildren are the live children that the Application owns.
func ownedChildren(snapshot child.Snapshot) map[child.Ref]child.Object {
	owned := map[child.Ref]child.Object{}
	for ref, object := range snapshot.Children {
		if child.OwnedBy(object, snapshot.Application) {
			owned[ref] = object
		}
	}
	return owned
}
