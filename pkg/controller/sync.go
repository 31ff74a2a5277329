// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// syncHandler reconciles one Application: its children get what the spec asks for, and its status reports the result. It
// is level-driven: it acts on the present state, not on events, so it may be called at any time and any number of times.
//
// It reads the clock once. ensureOwnership comes first, because deletionPolicy holds even if nothing else may change. All
// other decisions about children are made before the first write to one, and the writer executes the plan unchanged.
func (c *Controller) syncHandler(ctx context.Context, key cache.ObjectName, trigger workqueue.Trigger) Outcome {
	now := c.Now()
	observed, err := c.stages.observe(ctx, key, trigger, now)
	switch {
	case err != nil:
		return failed(err)
	case observed.unchanged:
		return succeeded(observed.unchangedFor)
	case observed.Application == nil:
		c.forget(key)
		return succeeded()
	case len(observed.stale) > 0:
		return staleCaches(observed.stale)
	}
	c.memory.forgetFingerprint(key)
	observed.health = health.Assess(observed.Snapshot, observed.serverTime)
	if observed.Application.DeletionTimestamp != nil {
		return c.finalize(ctx, observed, now)
	}
	owned, written, err := c.ensureOwnership(ctx, observed, now)
	if written || err != nil {
		return outcomeAfterWrite(err)
	}
	if wait := c.throttle(key, observed.Application, now); wait > 0 {
		return throttled(wait)
	}
	if observed.Application.Spec.ReconcilePolicy == v1.ReconcileSuspend {
		c.grants.forget(key)
		return c.report(ctx, observed, owned, target{}, nil, now)
	}
	target, err := c.resolve(ctx, observed, now)
	if err != nil {
		return failed(err)
	}
	if target.pending {
		return succeeded()
	}
	if len(target.invalid) > 0 {
		return c.report(ctx, observed, owned, target, nil, now)
	}
	desired, err := c.stages.render(ctx, target)
	if err != nil {
		return failed(err)
	}
	steps, err := c.stages.plan(ctx, observed, owned, target, desired, now)
	if err != nil {
		return failed(err)
	}
	results, err := c.stages.execute(ctx, observed.Application, steps, now)
	if errors.Is(err, apply.ErrOwnerDeleted) {
		return succeeded()
	}
	if err != nil {
		return failed(err)
	}
	return c.report(ctx, observed, owned, target, results, now)
}

// stages are a sync and the parts of it that the live view shows. The Controller implements them; instrumented.go wraps them.
type stages interface {
	syncKey(ctx context.Context, item workqueue.Item) Outcome
	observe(ctx context.Context, key cache.ObjectName, trigger workqueue.Trigger, now time.Time) (observation, error)
	render(ctx context.Context, target target) ([]child.Desired, error)
	plan(ctx context.Context, observed observation, owned ownership, target target, desired []child.Desired, now time.Time) ([]plan.Step, error)
	execute(ctx context.Context, application *v1.Application, steps []plan.Step, now time.Time) ([]plan.Result, error)
	writeStatus(ctx context.Context, application *v1.Application, next v1.ApplicationStatus, write statusWrite) error
}

var _ stages = (*Controller)(nil)

// render renders the children of the target.
func (c *Controller) render(_ context.Context, target target) ([]child.Desired, error) {
	desired, err := render.Children(target.Application, target.facts)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	return desired, nil
}

// plan compares the rendered children with the observed ones.
func (c *Controller) plan(
	_ context.Context, observed observation, owned ownership, target target, desired []child.Desired, now time.Time,
) ([]plan.Step, error) {
	remembered := c.memory.view(cache.MetaObjectToName(observed.Application), observed.Application.UID, now)
	steps, err := plan.Compute(c.Differ, plan.Input{
		Snapshot:       observed.Snapshot,
		Desired:        desired,
		Kept:           target.keptRevisions(),
		InBackoff:      remembered.inBackoff,
		CreateBackoff:  remembered.createBackoff,
		LastApplied:    remembered.lastApplied,
		Written:        remembered.written,
		ReleaseBackoff: owned.contended,
		Confirmed:      c.memory.isConfirmed(observed.Application),
		Missing:        target.references.missingMessage(),
		Now:            observed.serverTime,
		Age:            c.memory.ages(observed.Application, now),
	})
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return steps, nil
}

// execute executes the plan, unless the Application is only observed, and remembers repairs.
func (c *Controller) execute(ctx context.Context, application *v1.Application, steps []plan.Step, now time.Time) ([]plan.Result, error) {
	if application.Spec.ReconcilePolicy == v1.ReconcileObserve {
		return c.Writer.Observe(ctx, application, steps), nil
	}
	results, err := c.Writer.Execute(ctx, application, steps, func(ctx context.Context) error { return c.recheckOwner(ctx, application) })
	c.memory.executed(application, results, now)
	c.recordRepairs(application, plan.Done(results))
	return results, err
}

// forget drops the state of an Application that no longer exists.
func (c *Controller) forget(key cache.ObjectName) {
	c.memory.forget(key)
	c.grants.forget(key)
	c.Informers.SetReferences(key, nil)
}
