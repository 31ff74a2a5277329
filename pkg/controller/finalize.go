// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
)

// By default an Application has no finalizer: the garbage collector deletes the children by their ownerReferences, whether
// the controller runs or not. Only deletionPolicy Orphan needs one, because the controller must remove remaining
// ownerReferences.

const (
	// collectionGrace is how long the garbage collector may delete children before the status says that the deletion waits for it.
	// Most deletions end sooner, and cost no write.
	collectionGrace = 30 * time.Second
	// finalizerGrace is the same for a finalizer of another controller. Few Applications have one, and until then the status is
	// about children that may be gone.
	finalizerGrace = 10 * time.Second
)

// finalize finishes the deletion of an Application. It writes only the owners of its children.
func (c *Controller) finalize(ctx context.Context, observed observation, now time.Time) Outcome {
	application := observed.Application
	c.grants.forget(cache.MetaObjectToName(application)) // Granted routes are live, or will not be written.
	if !slices.Contains(application.Finalizers, v1.FinalizerOrphan) {
		return c.awaitFinalizers(ctx, observed, now)
	}
	owned, err := c.setOwners(ctx, observed, now)
	if err != nil {
		return failed(err)
	}
	if len(owned.failed) > 0 {
		return c.report(ctx, observed, owned, target{}, nil, now)
	}
	if err := c.setFinalizers(ctx, application, without(application.Finalizers, v1.FinalizerOrphan)); err != nil {
		return failed(err)
	}
	if isOrphan(application) {
		for ref := range ownedChildren(observed.Snapshot) {
			if ref.Kind.OutlivesApplication() {
				c.recordChildEvent(application, ref, v1.EventOrphaned, actionRelease, "Left behind", "deletionPolicy is Orphan")
			}
		}
	}
	return succeeded()
}

// awaitFinalizers reports the finalizers that remain after a while. Their removal is an event.
func (c *Controller) awaitFinalizers(ctx context.Context, observed observation, now time.Time) Outcome {
	grace := collectionGrace
	ofCollector := func(finalizer string) bool {
		return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
	}
	if !slices.ContainsFunc(observed.Application.Finalizers, ofCollector) {
		grace = finalizerGrace
	}
	if left := grace - observed.serverTime.Sub(observed.Application.DeletionTimestamp.Time); left > 0 {
		return succeeded(left)
	}
	return c.report(ctx, observed, ownership{}, target{}, nil, now)
}

// setFinalizers replaces the finalizers, if no other client changed the Application meanwhile.
func (c *Controller) setFinalizers(ctx context.Context, application *v1.Application, finalizers []string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             application.UID,
		"resourceVersion": application.ResourceVersion,
		"finalizers":      finalizers,
	}})
	if err != nil {
		return fmt.Errorf("encode finalizers: %w", err)
	}
	patched, err := c.Applications.Applications(application.Namespace).
		Patch(ctx, application.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: apply.FieldManager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("set finalizers: %w", err)
	}
	if patched.DeletionTimestamp == nil {
		// Without its last finalizer a deleted object is gone, and no cache would ever have this version.
		c.ConsistencyStore.WroteAt(cache.MetaObjectToName(application), applicationsGVR, patched.ResourceVersion)
	}
	return nil
}

func without(list []string, item string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == item })
}
