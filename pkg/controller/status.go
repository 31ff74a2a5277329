// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/apierror"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/status"
)

var applicationsGVR = v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)

// writeStatus is the only writer of status. It writes only if write is writeNow.
func (c *Controller) writeStatus(ctx context.Context, application *v1.Application, next v1.ApplicationStatus, write statusWrite) (err error) {
	defer func() { c.Metrics.status(write, err) }()
	if write != writeNow {
		return nil
	}
	updated := application.DeepCopy()
	updated.Status = next
	// The resourceVersion of the cached Application makes the API server refuse the update if anything changed since the
	// sync began. patchStatus handles changes that do not matter.
	written, err := c.Applications.Applications(application.Namespace).
		UpdateStatus(ctx, updated, metav1.UpdateOptions{FieldManager: apply.FieldManager})
	if apierrors.IsConflict(err) {
		written, err = c.patchStatus(ctx, application, next, err)
	}
	if apierrors.IsNotFound(err) {
		return nil // It was deleted; the event follows.
	}
	if err != nil {
		return fmt.Errorf("update status: %w", err)
	}
	c.memory.confirm(application)
	c.ConsistencyStore.WroteAt(cache.MetaObjectToName(application), applicationsGVR, written.ResourceVersion)
	return nil
}

// refusedEventPeriod is how often an Event repeats that the status is refused for the same reason: often enough for the last hour's Events.
const refusedEventPeriod = 30 * time.Minute

// refusal is the last Event about a refused status; the zero value says that the last status was accepted.
type refusal struct {
	message string
	last    time.Time
}

// recordRefusedStatus records an Event if the API server refuses a status, such as for an admission policy of the cluster. The status cannot
// say so, and goes on showing an earlier state.
func (c *Controller) recordRefusedStatus(application *v1.Application, write statusWrite, err error, now time.Time) {
	switch {
	case write != writeNow:
	case err == nil:
		c.memory.notesRefusal(application, "", now)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsInternalError(err), apierrors.IsRequestEntityTooLargeError(err):
		if message := apierror.Message(err); c.memory.notesRefusal(application, message, now) {
			c.Recorder.Eventf(application, nil, corev1.EventTypeWarning, v1.EventStatusRefused, actionReport, "%s", status.WhyRefused(message))
		}
	}
}

// notesRefusal remembers why a status was refused, or "" for an accepted one, and reports whether an Event is due.
func (m *memory) notesRefusal(application *v1.Application, message string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	remembered := m.of(cache.MetaObjectToName(application))
	if message == "" {
		remembered.refused = refusal{}
		return false
	}
	if message == remembered.refused.message && now.Sub(remembered.refused.last) < refusedEventPeriod {
		return false
	}
	remembered.refused = refusal{message: message, last: now}
	return true
}

// patchStatus writes the status after an update met a conflict, if only metadata changed: a client that keeps labelling
// an Application must not prevent its status. If the spec, the status or the UID changed, the conflict remains. So a
// replica whose caches are older than the writes of the former leader never overwrites a newer status.
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
	written, err := c.Applications.Applications(application.Namespace).
		Patch(ctx, application.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: apply.FieldManager}, "status")
	if apierrors.IsInvalid(err) {
		// A test of the patch failed. A status that violates the schema would have failed the update.
		return nil, conflict
	}
	return written, err
}
