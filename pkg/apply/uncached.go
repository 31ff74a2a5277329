// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// verify reads a child that is no longer rendered and that only the status lists, because another writer removed the
// label by which the informers select. The result has the step to execute instead: with the object that exists, or
// without one if it is deleted, being deleted, or not the Application's.
func (w *Writer) verify(ctx context.Context, application *v1.Application, result plan.Result) plan.Result {
	instead := result.Done()
	if leftover := instead.Action == plan.Delete || instead.Action == plan.WaitDependency; !leftover || instead.Desired != nil || instead.Live != nil {
		return result
	}
	object, err := w.client.Get(ctx, result.Ref)
	result.Instead = &instead
	switch {
	case apierrors.IsNotFound(err):
		instead.Action = plan.Delete
	case err != nil:
		result.Err = fmt.Errorf("get %s: %w", result.Ref, err)
	case !child.OwnedBy(object, application) || object.GetDeletionTimestamp() != nil:
		instead.Action = plan.Delete
	default:
		instead.Live, result.UID = object, object.GetUID()
	}
	return result
}

// GetUncached reads the children whose UID the status lists, but which the informers do not have, whatever the
// reason. Call it before a step after which nothing protects them any more. A child whose API is not served does not
// exist. A child that cannot be read may exist, so failed has it, with the error.
func (w *Writer) GetUncached(ctx context.Context, snapshot child.Snapshot) (uncached map[child.Ref]child.Object, failed map[child.Ref]error) {
	uncached, failed = map[child.Ref]child.Object{}, map[child.Ref]error{}
	for _, resource := range snapshot.Application.Status.Resources {
		ref, known := child.RefOf(snapshot.Application, resource)
		if _, seen := snapshot.Children[ref]; seen || !known || resource.UID == "" {
			continue
		}
		object, err := w.client.Get(ctx, ref)
		switch {
		case apierrors.IsNotFound(err) && (!snapshot.Unavailable[ref.Kind].MayExist || !typeNotFound(err)):
		case err != nil:
			failed[ref] = fmt.Errorf("get %s: %w", ref, err)
		case child.OwnedBy(object, snapshot.Application):
			uncached[ref] = object
		}
	}
	return uncached, failed
}

// typeNotFound reports whether the API server did not know the type. One of several API servers may lag behind, so if
// the cluster serves the type, this proves nothing about the object.
func typeNotFound(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
