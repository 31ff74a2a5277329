// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// The garbage collector deletes objects with an ownerReference to a deleted Application, and with
// kubectl delete --cascade=foreground before any finalizer can prevent it. So with deletionPolicy Orphan the children
// never have one, from the first write on. A finalizer holds the Application until the last ownerReference is removed.
//
// The controller follows deletionPolicy under every reconcilePolicy, which decides only about the content of children. It
// writes only metadata for this.

// ownership is the result of setting the owners of the children.
type ownership struct {
	// failed has the children whose owner could not be set, with the error.
	failed map[child.Ref]error
	// contended are children to which another writer keeps restoring an ownerReference.
	contended map[child.Ref]bool
}

// err joins the errors of all failed children. A contended child is no error: its backoff decides when the key returns.
func (o ownership) err() error {
	refs := slices.SortedFunc(maps.Keys(o.failed), func(a, b child.Ref) int { return strings.Compare(a.String(), b.String()) })
	var errs []error
	for _, ref := range refs {
		errs = append(errs, o.failed[ref])
	}
	return errors.Join(errs...)
}

// ensureOwnership makes the finalizer and the owners of the children follow deletionPolicy. With Orphan the finalizer
// is set first, with Delete it is removed last: at each moment either a child has an ownerReference, or the finalizer
// holds the Application. written means that the Application was written; that event triggers the next sync.
func (c *Controller) ensureOwnership(ctx context.Context, observed observation, now time.Time) (owned ownership, written bool, err error) {
	application := observed.Application
	hasFinalizer, orphan := slices.Contains(application.Finalizers, v1.FinalizerOrphan), isOrphan(application)
	if orphan && !hasFinalizer {
		return ownership{}, true, c.setFinalizers(ctx, application, append(slices.Clone(application.Finalizers), v1.FinalizerOrphan))
	}
	owned, err = c.setOwners(ctx, observed, now)
	if orphan || !hasFinalizer || len(owned.failed) > 0 || err != nil {
		return owned, false, err
	}
	return ownership{}, true, c.setFinalizers(ctx, application, without(application.Finalizers, v1.FinalizerOrphan))
}

// setOwners releases the children for deletionPolicy Orphan, and adopts them again for Delete.
func (c *Controller) setOwners(ctx context.Context, observed observation, now time.Time) (ownership, error) {
	application := observed.Application
	children, failed := ownedChildren(observed.Snapshot), map[child.Ref]error{}
	if slices.Contains(application.Finalizers, v1.FinalizerOrphan) {
		// The Application may be gone after this. Then no sync would find children that the caches do not have.
		var uncached map[child.Ref]child.Object
		uncached, failed = c.Writer.GetUncached(ctx, observed.Snapshot)
		maps.Copy(children, uncached)
	}
	orphan := isOrphan(application)
	maps.DeleteFunc(children, func(ref child.Ref, live child.Object) bool {
		return !ref.Kind.OutlivesApplication() || live.GetDeletionTimestamp() != nil || child.Collectable(live, application) != orphan
	})
	switch {
	case len(children) == 0:
		return ownership{failed: failed}, nil
	case orphan:
		return ownership{failed: failed, contended: c.releaseAll(ctx, application, children, failed, now)}, nil
	}
	if is, err := c.isDeletable(ctx, application); !is || err != nil {
		return ownership{failed: failed}, err
	}
	for ref, live := range children {
		if err := c.Writer.Adopt(ctx, application, ref, live); err != nil {
			failed[ref] = err
		}
	}
	return ownership{failed: failed}, nil
}

// releaseAll releases children, and adds errors to failed. If another writer keeps restoring the ownerReference of a child,
// releases back off, but not while the Application is being deleted.
func (c *Controller) releaseAll(
	ctx context.Context, application *v1.Application, children map[child.Ref]child.Object, failed map[child.Ref]error, now time.Time,
) (contended map[child.Ref]bool) {
	contended = map[child.Ref]bool{}
	inBackoff := c.memory.view(cache.MetaObjectToName(application), application.UID, now).inBackoff
	for ref, live := range children {
		if inBackoff[ref] && application.DeletionTimestamp == nil {
			contended[ref] = true
			continue
		}
		if err := c.Writer.Release(ctx, application, ref, live); err != nil {
			failed[ref] = err
			continue
		}
		if live.GetAnnotations()[v1.AnnotationOwnerUID] != "" {
			c.memory.repaired(application, ref, now)
		}
		if application.DeletionTimestamp == nil {
			c.Recorder.Eventf(application, related(application, &ref), corev1.EventTypeNormal, v1.EventOutlivesApplication, actionRelease,
				"%s %s stays when the Application is deleted: deletionPolicy is Orphan. Fairlead goes on with it as before.", ref.Kind.Kind, ref.Name)
		}
	}
	return contended
}

// isOrphan reports whether the children outlive the Application. They do if the policy cannot be decoded, because a user can
// still delete them.
func isOrphan(application *v1.Application) bool {
	return application.Spec.DeletionPolicy == v1.DeletionOrphan || v1.Undecoded(application.DecodeErrors, "spec.deletionPolicy")
}
