// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/status"
)

// report computes the status, writes it if it changed, tells the transitions as Events, and
// turns what happened into the outcome of the sync.
func (c *Controller) report(ctx context.Context, stages *debug.SyncRecorder, in status.Input) Outcome {
	c.Metrics.planned(in.Results)
	outcome := outcomeOf(in)
	if outcome.Verdict == Stale {
		// A lost race: the next sync knows more, and comes soon. It is nothing to tell anybody.
		return outcome
	}
	application := in.Snapshot.Application
	key := cache.MetaObjectToName(application)
	at := time.Now()
	next := status.Compute(in, at)
	outcome = outcome.lookAgain(in.Health.RequeueAfter)
	wait := c.deferred.wait(key, status.Compare(application.Status, next), at)
	if wait != now {
		c.Metrics.status(wait, nil)
		stages.Status(statusResult(wait, nil), nil)
		return outcome.lookAgain(wait)
	}
	err := c.writeStatus(stages.Context(ctx), application, next)
	c.Metrics.status(wait, err)
	stages.Status(statusResult(wait, err), err)
	if err != nil {
		return failed(err)
	}
	transitions := status.Transitions(application.Status, next)
	for _, transition := range transitions {
		c.transition(application, transition)
	}
	if len(transitions) > 0 && len(application.DecodeErrors) > 0 {
		klog.FromContext(ctx).Info("The Application cannot be decoded; its children stay as they are until its spec is corrected", "errors", in.Invalid)
	}
	return outcome
}

// outcomeOf finds out from the results what the key waits for.
func outcomeOf(in status.Input) Outcome {
	if len(in.Invalid) > 0 {
		return Outcome{Verdict: Invalid}
	}
	var blocked, broken []error
	var conflict error
	for _, result := range in.Results {
		switch {
		case result.Action == plan.Refuse:
			blocked = append(blocked, refused{result.Ref, result.Reason})
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
		return Outcome{Verdict: Blocked, Err: errors.Join(blocked...)}
	default:
		return Outcome{Verdict: Settled}
	}
}

// refused is the error of a child that is not written because the object of its name is somebody else's.
// It says whose, and quotes nothing of it, so the live view may tell it.
type refused struct {
	ref    child.Ref
	reason string
}

var _ debug.SafeError = refused{}

func (r refused) Error() string       { return fmt.Sprintf("%s: %s", r.ref, r.reason) }
func (r refused) SafeMessage() string { return r.Error() }

// transition tells a change of status as an Event.
func (c *Controller) transition(application *v1.Application, t status.Transition) {
	c.Recorder.Eventf(application, related(application, t.Related), t.Type, t.Reason, actionReport, "%s", t.Message)
}

// announce tells a write that repaired drift, or that took a child away, as an Event.
func (c *Controller) announce(application *v1.Application, result plan.Result) {
	switch {
	case !result.Changed():
	case result.Action == plan.Delete && result.Ref.Kind == child.ControllerRevision:
		// Old history goes with each new revision, which is told.
	case result.Action == plan.Delete:
		c.tellChild(application, result.Ref, v1.EventChildDeleted, actionDelete, "Deleted: "+result.Reason)
	case result.Drift && (result.Action == plan.Apply || result.Action == plan.Create):
		c.tellChild(application, result.Ref, v1.EventDriftRepaired, actionRepair, "Repaired: "+result.Reason)
	}
}

// The actions of Events: what the controller did, as a verb.
const (
	actionReport  = "Report"
	actionDelete  = "Delete"
	actionRepair  = "Repair"
	actionRelease = "Release"
)

// tellChild tells what was done to a child as an Event of the Application.
func (c *Controller) tellChild(application *v1.Application, ref child.Ref, reason, action, note string) {
	c.Recorder.Eventf(application, related(application, &ref), corev1.EventTypeNormal, reason, action, "%s", ref.Kind.Kind+" "+ref.Name+": "+note)
}

// related names a child for an Event; nil stays nil.
func related(application *v1.Application, ref *child.Ref) runtime.Object {
	if ref == nil {
		return nil
	}
	return &corev1.ObjectReference{
		APIVersion: ref.Kind.GroupVersionKind().GroupVersion().String(),
		Kind:       ref.Kind.Kind,
		Namespace:  application.Namespace,
		Name:       ref.Name,
	}
}
