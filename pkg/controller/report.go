// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/status"
)

// report computes the status, writes it if it changed, records Events of the transitions, and returns the outcome of the
// sync. The key returns at the earliest time that a stage requested; syncs that end before this stage return that time
// themselves.
func (c *Controller) report(
	ctx context.Context, observed observation, owned ownership, target target, results []plan.Result, now time.Time,
) Outcome {
	application, key := observed.Application, cache.MetaObjectToName(observed.Application)
	results = plan.Done(results)
	c.Metrics.planned(results)
	outcome := outcomeOf(target.invalid, results)
	if outcome.Verdict == Stale {
		return outcome // A lost race. The next sync follows soon, with newer caches.
	}
	remembered := c.memory.view(key, application.UID, now)
	in := statusInput(observed, owned, target, results)
	in.Contended = remembered.contendedFields(results)
	next := status.Compute(in, now)
	write, statusDelay := c.memory.deferStatus(key, status.Compare(application.Status, next), now)
	err := c.stages.writeStatus(ctx, application, next, write)
	c.recordRefusedStatus(application, write, err, now)
	if err != nil {
		return failed(err)
	}
	if write == writeNow {
		c.recordTransitions(ctx, application, next, target.invalid)
	}
	outcome.RequeueAfter = minNonZero(observed.health.RequeueAfter, target.references.debounce, target.references.retry, remembered.backoff, statusDelay, recheckAfter(results), status.StallsAfter(in))
	outcome = outcome.unless(owned.err())
	// Each sync checks again what the controller may not read, because no event reports a new permission.
	if outcome.Verdict == Succeeded && application.DeletionTimestamp == nil && len(target.references.unwatched) == 0 {
		c.memory.noteQuiet(key, c.memory.expected(observed.fingerprint, results, outcome.RequeueAfter), now, outcome.RequeueAfter)
	}
	return outcome
}

// recheckAfter is when the first of the steps may do more without an event; 0 is never.
func recheckAfter(results []plan.Result) time.Duration {
	var first time.Duration
	for i := range results {
		first = minNonZero(first, results[i].RecheckAfter)
	}
	return first
}

// statusInput collects the inputs of a status.
func statusInput(observed observation, owned ownership, target target, results []plan.Result) status.Input {
	in := status.Input{
		Snapshot:      observed.Snapshot,
		ServerTime:    observed.serverTime,
		Health:        observed.health,
		Class:         target.class,
		Invalid:       target.invalid,
		InvalidReason: target.invalidReason,
		Unowned:       owned.failed,
		Results:       results,
	}
	if len(results) > 0 {
		in.Revision, in.RolledBack, in.RolledBackBecause = target.revision.Status, target.revision.Condition, target.revision.RolledBackBecause
		in.Renumbered = child.Ref{Kind: child.ControllerRevision, Namespace: observed.Application.Namespace, Name: target.revision.Name}
		in.RenumberedFrom = target.revision.RenumberedFrom
		in.URLs = status.ServedURLs(observed.Snapshot, results, render.URLs(target.Application, target.facts))
		in.Autoscaled = render.Autoscaled(observed.Application)
		in.Missing, in.Unwatched = target.references.missingMessage(), target.references.unwatchedMessage()
	}
	return in
}

// foreignRecheck is the delay before the controller checks again whether an object of another owner still has the name of a
// child. The informers do not watch such objects. The key may wait another 5 s for a worker; status promises 30 s.
const foreignRecheck = 25 * time.Second

// outcomeOf derives the outcome from the results.
func outcomeOf(invalid field.ErrorList, results []plan.Result) Outcome {
	if len(invalid) > 0 {
		return Outcome{Verdict: Invalid}
	}
	var blocked, broken []error
	var foreign time.Duration
	var conflict error
	for _, result := range results {
		switch {
		case result.Adoption == plan.AdoptionHeld:
			// Nothing is wrong, and the Deployment's events tell when the pods are replaced.
		case result.Action == plan.NotOwned:
			blocked = append(blocked, notOwnedError(result.Reason))
			foreign = foreignRecheck
		case result.Err == nil:
		case apierrors.IsConflict(result.Err):
			conflict = result.Err
		case apierror.ReasonFor(result.Err) == v1.ReasonApplyFailed:
			broken = append(broken, result.Err)
		default:
			blocked = append(blocked, result.Err)
		}
	}
	switch {
	case len(broken) > 0:
		return failed(errors.Join(broken...))
	case conflict != nil:
		return Outcome{Verdict: Stale, Err: conflict}
	case len(blocked) > 0:
		return Outcome{Verdict: Blocked, Err: errors.Join(blocked...), RecheckAfter: foreign}
	default:
		return succeeded()
	}
}

// notOwnedError is the error of a child whose name belongs to an object that the Application does not own.
type notOwnedError string

func (e notOwnedError) Error() string { return string(e) }

// SafeMessage returns the message for the live view. It names the owner of the object, and quotes no value.
func (e notOwnedError) SafeMessage() string { return e.Error() }

// recordTransitions records changes of the status as Events.
func (c *Controller) recordTransitions(ctx context.Context, application *v1.Application, next v1.ApplicationStatus, invalid field.ErrorList) {
	transitions := status.Transitions(application.Status, next)
	for _, t := range transitions {
		c.Recorder.Eventf(application, related(application, t.Related), t.Type, t.Reason, actionReport, "%s", t.Message)
	}
	if len(transitions) > 0 && len(application.DecodeErrors) > 0 {
		klog.FromContext(ctx).Info("The Application cannot be decoded; its children stay as they are until its spec is corrected", "errors", invalid)
	}
}
