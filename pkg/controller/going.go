// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// isGoing asks the API server whether the Application is being deleted or gone, if the plan repairs
// what may be the work of the garbage collector: a child that is missing, or one that does not
// name its owner. Each kind has its own watch, so that may be seen before the Application's end.
// Repaired then, a deleted child would come back for a moment, and a child that kubectl delete
// --cascade=orphan left would belong to nobody's UID again, and be deleted.
func (c *Controller) isGoing(ctx context.Context, application *v1.Application, steps []plan.Step) (bool, error) {
	suspicious := func(step plan.Step) bool {
		return step.Action == plan.Create && step.Drift ||
			step.Action == plan.Apply && !child.OwnedBy(step.Live, application)
	}
	if application.Spec.ReconcilePolicy == v1.ReconcileObserve || !slices.ContainsFunc(steps, suspicious) {
		return false, nil
	}
	live, err := c.getApplication(ctx, application)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return live.UID != application.UID || live.DeletionTimestamp != nil, nil
}
