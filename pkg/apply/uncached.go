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

// verify reads a child that is not rendered any more and that only status lists, because another writer removed the
// label by which the informers select. The result says what to do instead: with the object that exists, or with none
// if it is gone, not the Application's, or being deleted anyway.
func (w *Writer) verify(ctx context.Context, application *v1.Application, result plan.Result) plan.Result {
	if leftover := result.Action == plan.Delete || result.Action == plan.WaitDependency; !leftover || result.Desired != nil || result.Live != nil {
		return result
	}
	object, err := w.client.Get(ctx, result.Ref)
	instead := result.Step
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

// GetUncached reads the children that status lists by their UID and the informers do not show, whatever the
// reason: it is for the moment after which nothing protects them any more. A child whose API is not served
// is gone. One that cannot be read is not, so it is in failed, with the error.
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

// typeNotFound reports whether an API server did not know the type. Of several one may lag, so where the
// cluster is known to serve the type this says nothing of the object.
func typeNotFound(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}
