// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
)

// isDeletable reads from the API server whether the children may get their ownerReferences back. A stale cache could
// still show the Application as it was before a user asked for Orphan.
func (c *Controller) isDeletable(ctx context.Context, application *v1.Application) (bool, error) {
	live, err := c.getApplication(ctx, application)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return live.UID == application.UID && !isOrphan(live) &&
		!slices.Contains(live.Finalizers, metav1.FinalizerOrphanDependents), nil
}

// errOlderSpec is the cause of the conflict that ends a sync of an older spec.
var errOlderSpec = errors.New("the cache shows another generation of the Application")

// recheckOwner reads from the API server whether the Application is being deleted, or gone: apply.ErrOwnerDeleted. If its
// spec is another one than the cached, it returns a conflict. Kubernetes' own controllers have the first half as
// RecheckDeletionTimestamp.
func (c *Controller) recheckOwner(ctx context.Context, application *v1.Application) error {
	live, err := c.getApplication(ctx, application)
	switch {
	case apierrors.IsNotFound(err):
		return apply.ErrOwnerDeleted
	case err != nil:
		return err
	case live.UID != application.UID || live.DeletionTimestamp != nil:
		return apply.ErrOwnerDeleted
	case live.Generation != application.Generation:
		return apierrors.NewConflict(applicationsGVR.GroupResource(), application.Name, errOlderSpec)
	default:
		c.memory.confirm(application)
		return nil
	}
}

// getApplication reads the Application from the API server.
func (c *Controller) getApplication(ctx context.Context, application *v1.Application) (*v1.Application, error) {
	live, err := c.Applications.Applications(application.Namespace).Get(ctx, application.Name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get Application: %w", err)
	}
	return live, nil
}
