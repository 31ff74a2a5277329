// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// ErrNotOwned is returned for a write to an object that the Application does not own.
var ErrNotOwned = errors.New("the object is not owned by the Application")

// Release hides a child from the garbage collector, for deletionPolicy Orphan: it removes the Application's
// ownerReference, and v1.AnnotationOwnerUID names the owner. It keeps everything else, labels included: selectors
// need them.
func (w *Writer) Release(ctx context.Context, application *v1.Application, ref child.Ref, live child.Object) error {
	if err := w.setOwner(ctx, application, ref, live, false); err != nil {
		return fmt.Errorf("release %s: %w", ref, err)
	}
	return nil
}

// Adopt undoes Release, so that the garbage collector deletes the child with the Application.
func (w *Writer) Adopt(ctx context.Context, application *v1.Application, ref child.Ref, live child.Object) error {
	if err := w.setOwner(ctx, application, ref, live, true); err != nil {
		return fmt.Errorf("adopt %s: %w", ref, err)
	}
	return nil
}

// setOwner names the Application in a child, by an ownerReference or by the annotation. It is one write, so that the
// Application owns the child at every moment. A deleted child needs no owner.
func (w *Writer) setOwner(ctx context.Context, application *v1.Application, ref child.Ref, live child.Object, collectable bool) error {
	if !child.OwnedBy(live, application) {
		return ErrNotOwned
	}
	metadata := map[string]any{"uid": live.GetUID()}
	if collectable {
		metadata["annotations"] = map[string]any{v1.AnnotationOwnerUID: nil}
	} else {
		metadata["annotations"] = map[string]any{v1.AnnotationOwnerUID: application.UID}
	}
	kind := types.StrategicMergePatchType
	reference := metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
	switch {
	case ref.Kind.Optional():
		// Custom resources do not support strategic merge. The patch has the whole list, and therefore the version.
		kind = types.MergePatchType
		owners := slices.DeleteFunc(slices.Clone(live.GetOwnerReferences()), func(owner metav1.OwnerReference) bool {
			return owner.UID == application.UID
		})
		if collectable {
			owners = append(owners, *reference)
		}
		metadata["resourceVersion"], metadata["ownerReferences"] = live.GetResourceVersion(), owners
	case collectable:
		metadata["ownerReferences"] = []any{reference}
	default:
		metadata["ownerReferences"] = []any{map[string]any{"$patch": "delete", "uid": application.UID}}
	}
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("encode the owner: %w", err)
	}
	written, err := w.patch(ctx, ref, kind, body, FieldManager)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if written.GetLabels()[v1.LabelManagedBy] != v1.ManagedBy {
		return nil // The informers do not select it: no cache would ever show this write.
	}
	w.consistencyStore.WroteAt(cache.MetaObjectToName(application), ref.Kind.GroupVersionResource(), written.GetResourceVersion())
	return nil
}
