// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Unseen reads the children that status lists and the informers do not show, because somebody took
// the label off by which they select. Left out are those that are gone, that are not the Application's,
// or whose API is not served; and those that are rendered, which are met when they are created. It is for
// the end of a child, or of the Application, after which nobody looks for it any more.
func (w *Writer) Unseen(ctx context.Context, snapshot child.Snapshot, rendered []child.Desired) (map[child.Ref]child.Object, error) {
	unseen := map[child.Ref]child.Object{}
	for _, resource := range snapshot.Application.Status.Resources {
		ref, known := refOf(snapshot.Application, resource)
		_, seen := snapshot.Children[ref]
		_, unserved := snapshot.Unavailable[ref.Kind]
		if seen || unserved || !known {
			continue
		}
		if slices.ContainsFunc(rendered, func(d child.Desired) bool { return d.Ref == ref }) {
			continue
		}
		object, err := w.client.Get(ctx, ref)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("get %s: %w", ref, err)
		}
		if child.OwnedBy(object, snapshot.Application) {
			unseen[ref] = object
		}
	}
	return unseen, nil
}

// Uncached reads the children that status lists by their UID and the informers do not show, whatever the
// reason: it is for the moment after which nothing protects them any more. A child whose API is not served
// is gone. One that cannot be read is not, so it is in failed, with the error.
func (w *Writer) Uncached(ctx context.Context, snapshot child.Snapshot) (uncached map[child.Ref]child.Object, failed map[child.Ref]error) {
	uncached, failed = map[child.Ref]child.Object{}, map[child.Ref]error{}
	for _, resource := range snapshot.Application.Status.Resources {
		ref, known := refOf(snapshot.Application, resource)
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

// refOf finds the kind again of which status has no version. It is not known if an older or newer
// Fairlead wrote the status.
func refOf(application *v1.Application, resource v1.ResourceStatus) (ref child.Ref, known bool) {
	for _, kind := range child.AllKinds() {
		if kind.Group == resource.Group && kind.Kind == resource.Kind {
			return child.Ref{Kind: kind, Namespace: application.Namespace, Name: resource.Name}, true
		}
	}
	return child.Ref{}, false
}
