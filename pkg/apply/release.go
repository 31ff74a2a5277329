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

// ErrNotOwned is returned where a write was asked for on an object of somebody else.
var ErrNotOwned = errors.New("the object is not owned by the Application")

// Release takes the Application's ownerReference off a child, for deletionPolicy Orphan. The
// child stays as it is otherwise, labels included: its selector needs them.
func (w *Writer) Release(ctx context.Context, application *v1.Application, ref child.Ref, live child.Object) error {
	if !child.OwnedBy(live, application) {
		return fmt.Errorf("release %s: %w", ref, ErrNotOwned)
	}
	kind, metadata := types.StrategicMergePatchType, map[string]any{
		"uid":             live.GetUID(),
		"ownerReferences": []any{map[string]any{"$patch": "delete", "uid": application.UID}},
	}
	if ref.Kind.Optional() {
		// Custom resources know no strategic merge. The list is sent whole, and so with the version.
		kind = types.MergePatchType
		metadata["resourceVersion"] = live.GetResourceVersion()
		metadata["ownerReferences"] = slices.DeleteFunc(slices.Clone(live.GetOwnerReferences()), func(owner metav1.OwnerReference) bool {
			return owner.UID == application.UID
		})
	}
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return fmt.Errorf("encode release of %s: %w", ref, err)
	}
	released, err := w.patch(ctx, ref, kind, body, FieldManager)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("release %s: %w", ref, err)
	}
	w.tracker.Wrote(cache.MetaObjectToName(application), ref.Kind.GroupVersionResource(), released.GetResourceVersion())
	return nil
}
