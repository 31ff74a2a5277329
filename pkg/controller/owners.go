// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// The garbage collector deletes what has an ownerReference to an Application that goes, and with
// kubectl delete --cascade=foreground before any finalizer can keep it from that. So with deletionPolicy
// Orphan the children have none, from the first write on. A finalizer holds the Application until the last
// ownerReference is off.
//
// deletionPolicy is honoured whatever reconcilePolicy says: that one is about what children are, and this
// is about whether they stay. Nothing but metadata is written.

// followDeletionPolicy makes the finalizer and the owners of the children follow deletionPolicy. With Orphan
// the finalizer comes first, with Delete it goes last: at each moment either the garbage collector knows a
// child, or the finalizer holds the Application. changed means that the Application was written, whose
// event brings the next sync; failed has the children whose owner could not be changed.
func (c *Controller) followDeletionPolicy(ctx context.Context, snapshot child.Snapshot) (failed ownerErrors, changed bool, err error) {
	application := snapshot.Application
	held := slices.Contains(application.Finalizers, v1.FinalizerOrphan)
	orphan := orphans(application)
	if orphan && !held {
		return nil, true, c.setFinalizers(ctx, application, append(slices.Clone(application.Finalizers), v1.FinalizerOrphan))
	}
	failed, err = c.setOwners(ctx, snapshot)
	if orphan || !held || len(failed) > 0 || err != nil {
		return failed, false, err
	}
	return nil, true, c.setFinalizers(ctx, application, without(application.Finalizers, v1.FinalizerOrphan))
}

// setOwners releases the children for deletionPolicy Orphan, and adopts them again for Delete.
func (c *Controller) setOwners(ctx context.Context, snapshot child.Snapshot) (ownerErrors, error) {
	application := snapshot.Application
	children, failed := ownedChildren(snapshot), ownerErrors{}
	if slices.Contains(application.Finalizers, v1.FinalizerOrphan) {
		// It may go as soon as this has ended: then nobody looks for what the caches do not show.
		var uncached map[child.Ref]child.Object
		uncached, failed = c.Writer.GetAllUncached(ctx, snapshot)
		maps.Copy(children, uncached)
	}
	orphan := orphans(application)
	maps.DeleteFunc(children, func(ref child.Ref, live child.Object) bool {
		return !ref.Kind.OutlivesApplication() || live.GetDeletionTimestamp() != nil || child.Collectable(live, application) != orphan
	})
	switch {
	case len(children) == 0:
		return failed, nil
	case orphan:
		c.releaseAll(ctx, application, children, failed)
		return failed, nil
	}
	if is, err := c.isDeletable(ctx, application); !is || err != nil {
		return failed, err
	}
	for ref, live := range children {
		if err := c.Writer.Adopt(ctx, application, ref, live); err != nil {
			failed[ref] = err
		}
	}
	return failed, nil
}

// releaseAll releases children. One that others make collectable again and again is released ever more
// seldom, but at the end of the Application in any case.
func (c *Controller) releaseAll(ctx context.Context, application *v1.Application, children map[child.Ref]child.Object, failed ownerErrors) {
	held, _ := c.repairBackoff.InBackoff(application.UID, time.Now())
	for ref, live := range children {
		if held[ref] && application.DeletionTimestamp == nil {
			failed[ref] = errContended
			continue
		}
		if err := c.Writer.Release(ctx, application, ref, live); err != nil {
			failed[ref] = err
			continue
		}
		if live.GetAnnotations()[v1.AnnotationOwnerUID] != "" {
			c.repairBackoff.Repaired(application.UID, ref, time.Now())
		}
		c.tellChild(application, ref, v1.EventOrphaned, actionRelease, "Released: deletionPolicy is Orphan")
	}
}

// isDeletable asks the API server whether the children may get their ownerReferences back. A cache that
// lags could still show the Application as it was before somebody asked for Orphan.
func (c *Controller) isDeletable(ctx context.Context, application *v1.Application) (bool, error) {
	live, err := c.getApplication(ctx, application)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return live.UID == application.UID && !orphans(live) &&
		!slices.Contains(live.Finalizers, metav1.FinalizerOrphanDependents), nil
}

// ownerErrors are why the owner of a child could not be changed.
type ownerErrors map[child.Ref]error

var errContended = errors.New("others keep undoing what Fairlead sets")

// err is one error for all, nil if there is none. RepairBackoff is none: its hold ends without a retry.
func (e ownerErrors) err() error {
	refs := slices.SortedFunc(maps.Keys(e), func(a, b child.Ref) int { return strings.Compare(a.String(), b.String()) })
	var errs []error
	for _, ref := range refs {
		if !errors.Is(e[ref], errContended) {
			errs = append(errs, e[ref])
		}
	}
	return errors.Join(errs...)
}

// mark puts the errors into the results of the sync: a child with the wrong owner is not as it should be.
func (e ownerErrors) mark(results []plan.Result) []plan.Result {
	for i := range results {
		switch err := e[results[i].Ref]; {
		case err == nil || results[i].Err != nil:
		case errors.Is(err, errContended):
			results[i].Action = plan.Hold
		default:
			results[i].Err = err
		}
	}
	return results
}

// getApplication reads the Application from the API server.
func (c *Controller) getApplication(ctx context.Context, application *v1.Application) (*v1.Application, error) {
	began := time.Now()
	live, err := c.Applications.Applications(application.Namespace).Get(ctx, application.Name, metav1.GetOptions{})
	recordRequest(ctx, "get", "", application, live, began, err)
	if err != nil {
		return nil, fmt.Errorf("get Application: %w", err)
	}
	return live, nil
}
