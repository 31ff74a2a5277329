// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/status"
)

// settleTime is how long counts and messages that move while work is under way may wait to be
// written, so that a rollout does not cost a status write for each pod.
const settleTime = time.Second

var applicationsGVR = v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)

// writeStatus is the only writer of status. The resourceVersion of the cached Application makes
// the API server refuse if anything changed since the sync began; see patchStatus for changes that do not
// matter.
func (c *Controller) writeStatus(ctx context.Context, application *v1.Application, next v1.ApplicationStatus) error {
	updated := application.DeepCopy()
	updated.Status = next
	began := time.Now()
	written, err := c.Applications.Applications(application.Namespace).
		UpdateStatus(ctx, updated, metav1.UpdateOptions{FieldManager: apply.FieldManager})
	recordRequest(ctx, "update", "status", application, written, began, err)
	if apierrors.IsConflict(err) {
		written, err = c.patchStatus(ctx, application, next, err)
	}
	if apierrors.IsNotFound(err) {
		// Deleted meanwhile: its event is on the way.
		return nil
	}
	if err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	c.ConsistencyStore.WroteAt(cache.MetaObjectToName(application), applicationsGVR, written.ResourceVersion)
	return nil
}

// patchStatus writes the status after an update met a conflict, if nothing but metadata changed: a client
// that labels an Application again and again must not keep its status from being written. Where the spec
// changed, or the status, or the object is another one, the conflict stands. So a replica whose caches lag
// behind the leader before it never puts an older status over a newer one.
func (c *Controller) patchStatus(ctx context.Context, application *v1.Application, next v1.ApplicationStatus, conflict error) (*v1.Application, error) {
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": application.UID},
		{"op": "test", "path": "/metadata/generation", "value": application.Generation},
		{"op": "test", "path": "/status", "value": application.Status},
		{"op": "add", "path": "/status", "value": next},
	})
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	began := time.Now()
	written, err := c.Applications.Applications(application.Namespace).
		Patch(ctx, application.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: apply.FieldManager}, "status")
	recordRequest(ctx, "patch", "status", application, written, began, err)
	if apierrors.IsInvalid(err) {
		// A test of the patch failed; a status against the schema would have failed the update.
		return nil, conflict
	}
	return written, err
}

// deferredStatus remembers which status writes wait to settle.
type deferredStatus struct {
	mu  sync.Mutex
	due map[cache.ObjectName]time.Time
}

func newDeferredStatus() *deferredStatus {
	return &deferredStatus{due: map[cache.ObjectName]time.Time{}}
}

// now and never are what wait may return beside a real duration.
const (
	now   time.Duration = -1
	never time.Duration = 0
)

// wait returns now if the status is to be written now, never if it is equal, or how long to wait.
func (d *deferredStatus) wait(key cache.ObjectName, urgency status.Urgency, at time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	due, waiting := d.due[key]
	switch {
	case urgency == status.Batched && !waiting:
		d.due[key] = at.Add(settleTime)
		return settleTime
	case urgency == status.Batched && at.Before(due):
		return due.Sub(at)
	case urgency == status.Unchanged:
		delete(d.due, key)
		return never
	default:
		delete(d.due, key)
		return now
	}
}

func (d *deferredStatus) forget(key cache.ObjectName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.due, key)
}
