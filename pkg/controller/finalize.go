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
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/status"
)

// By default an Application has no finalizer: the garbage collector deletes the children by
// their ownerReferences, whether the controller runs or not. Only deletionPolicy Orphan needs
// one, because the controller has to take off what ownerReferences are left.

// deletionGrace is how long a deletion may take before the status says what it waits for. Most are over by
// then, and cost no write.
const deletionGrace = 30 * time.Second

// finalize ends an Application that is being deleted. Its children are written no more, but for who owns
// them.
func (c *Controller) finalize(ctx context.Context, stages *debug.SyncRecorder, snapshot child.Snapshot) Outcome {
	application := snapshot.Application
	if !slices.Contains(application.Finalizers, v1.FinalizerOrphan) {
		return c.awaitFinalizers(ctx, stages, snapshot)
	}
	unowned, err := c.setOwners(stages.Context(ctx), snapshot)
	if err != nil {
		return failed(err)
	}
	if err := unowned.err(); err != nil {
		return c.report(ctx, stages, status.Input{Snapshot: snapshot, Health: health.Assess(snapshot, time.Now()), Unowned: unowned}).unless(err)
	}
	if err := c.setFinalizers(stages.Context(ctx), application, without(application.Finalizers, v1.FinalizerOrphan)); err != nil {
		return failed(err)
	}
	if orphans(application) {
		for ref := range ownedChildren(snapshot) {
			if ref.Kind.OutlivesApplication() {
				c.tellChild(application, ref, v1.EventOrphaned, actionRelease, "Left behind: deletionPolicy is Orphan")
			}
		}
	}
	return Outcome{Verdict: Settled}
}

// awaitFinalizers reports the finalizers of other controllers, if they stay. Their end comes as an event.
func (c *Controller) awaitFinalizers(ctx context.Context, stages *debug.SyncRecorder, snapshot child.Snapshot) Outcome {
	if left := deletionGrace - time.Since(snapshot.Application.DeletionTimestamp.Time); left > 0 {
		return Outcome{Verdict: Settled, After: left}
	}
	return c.report(ctx, stages, status.Input{Snapshot: snapshot, Health: health.Assess(snapshot, time.Now())})
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
		c.ConsistencyStore.WroteAt(cache.MetaObjectToName(application), applicationsGVR, patched.ResourceVersion)
	}
	return nil
}

func without(list []string, item string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == item })
}
