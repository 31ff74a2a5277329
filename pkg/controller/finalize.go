// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/pipeline"
)

// By default an Application has no finalizer: the garbage collector deletes the children by
// their ownerReferences, whether the controller runs or not. Only deletionPolicy Orphan needs
// one, because somebody has to take the ownerReferences off before the Application is gone.

// keepFinalizer makes the finalizer follow deletionPolicy, before any child is written, and whatever
// reconcilePolicy says: that one is about the children, and this is about the end. changed means that
// it wrote, and that the snapshot is out of date by that.
func (c *Controller) keepFinalizer(ctx context.Context, stages *pipeline.SyncRecorder, application *v1.Application) (changed bool, err error) {
	has := slices.Contains(application.Finalizers, v1.FinalizerOrphan)
	wants := orphans(application)
	if has == wants {
		return false, nil
	}
	finalizers := without(application.Finalizers, v1.FinalizerOrphan)
	if wants {
		finalizers = append(finalizers, v1.FinalizerOrphan)
	}
	return true, c.setFinalizers(stages.Context(ctx), application, finalizers)
}

// finalize ends an Application that is being deleted. Its children are written no more; with
// deletionPolicy Orphan they are released first. reconcilePolicy does not matter here: whoever
// asked for Orphan must get it, and the Application could not go otherwise.
func (c *Controller) finalize(ctx context.Context, snapshot child.Snapshot) Outcome {
	application := snapshot.Application
	if !slices.Contains(application.Finalizers, v1.FinalizerOrphan) {
		return Outcome{Verdict: Settled}
	}
	if orphans(application) {
		children, err := c.Writer.Unseen(ctx, snapshot, nil)
		if err != nil {
			return failed(err)
		}
		maps.Copy(children, ownedChildren(snapshot))
		var errs []error
		for ref, live := range children {
			if ref.Kind == child.ControllerRevision {
				continue // The history of what is no Application any more goes with it.
			}
			err := c.Writer.Release(ctx, application, ref, live)
			errs = append(errs, err)
			if err == nil {
				c.tellChild(application, ref, v1.EventOrphaned, actionRelease, "Released: deletionPolicy is Orphan")
			}
		}
		if err := errors.Join(errs...); err != nil {
			return failed(err)
		}
	}
	return awaitEvent(c.setFinalizers(ctx, application, without(application.Finalizers, v1.FinalizerOrphan)))
}

// orphans reports whether the children outlive the Application. While the policy cannot be decoded they do: that can be undone.
func orphans(application *v1.Application) bool {
	return application.Spec.DeletionPolicy == v1.DeletionOrphan || v1.Undecoded(application.DecodeErrors, "spec.deletionPolicy")
}

// setFinalizers replaces the finalizers, if nobody changed the Application meanwhile.
func (c *Controller) setFinalizers(ctx context.Context, application *v1.Application, finalizers []string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             application.UID,
		"resourceVersion": application.ResourceVersion,
		"finalizers":      finalizers,
	}})
	if err != nil {
		return fmt.Errorf("encode finalizers: %w", err)
	}
	began := time.Now()
	patched, err := c.Applications.Applications(application.Namespace).
		Patch(ctx, application.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: apply.FieldManager})
	recordRequest(ctx, "patch", "", application, patched, began, err)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("set finalizers: %w", err)
	}
	if patched.DeletionTimestamp == nil {
		// The last finalizer of a deleted object takes the object with it; no cache shows that version.
		c.Tracker.Wrote(cache.MetaObjectToName(application), applicationsGVR, patched.ResourceVersion)
	}
	return nil
}

func without(list []string, item string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == item })
}
