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

// GetUncached reads the children that status lists but the informers do not show, because another writer removed
// the label that they select by. It leaves out children that no longer exist, that are not the Application's, or
// whose API is unavailable; and rendered children, which the writer meets when it creates them. Call it before a
// child or its Application goes: nothing looks for the child afterwards.
func (w *Writer) GetUncached(ctx context.Context, snapshot child.Snapshot, rendered []child.Desired) (map[child.Ref]child.Object, error) {
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

// GetAllUncached reads the children that status lists by UID but the informers do not show, for whatever reason.
// Call it before the last protection of the children goes. A child whose API is not served no longer exists. A child
// that cannot be read may exist, so it is in failed, with the error.
func (w *Writer) GetAllUncached(ctx context.Context, snapshot child.Snapshot) (uncached map[child.Ref]child.Object, failed map[child.Ref]error) {
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

// typeNotFound reports whether an API server did not know the type. One of several API servers may lag, so if the
// cluster is known to serve the type, this says nothing about the object.
func typeNotFound(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// refOf returns the Ref of a resource: status has no version. The kind is unknown if an older or newer Fairlead
// wrote the status.
func refOf(application *v1.Application, resource v1.ResourceStatus) (ref child.Ref, known bool) {
	for _, kind := range child.AllKinds() {
		if kind.Group == resource.Group && kind.Kind == resource.Kind {
			return child.Ref{Kind: kind, Namespace: application.Namespace, Name: resource.Name}, true
		}
	}
	return child.Ref{}, false
}
