// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/plan"
)

// This file is about field ownership: the manager of a field decides whether an apply that omits the field removes it.

// CreatedByPost reports whether the POST that created the object still owns Fairlead's fields. The informers'
// transform keeps just enough of managedFields for this.
func CreatedByPost(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), isPost)
}

func isPost(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
}

// PostEntry returns what CreatedByPost needs of managedFields, without the fields themselves, which are often the
// larger half of an object.
func PostEntry(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	for _, entry := range entries {
		if isPost(entry) {
			return []metav1.ManagedFieldsEntry{{Manager: entry.Manager, Operation: entry.Operation}}
		}
	}
	return nil
}

// convertManagedFields moves the fields of the creating POST to the applier. Otherwise a field that is no longer
// rendered would stay for ever, owned by the POST. This costs a read and a write once in the life of a child, before
// the first change of its field set.
func (w *Writer) convertManagedFields(ctx context.Context, result plan.Result) error {
	object, err := w.client.Get(ctx, result.Ref)
	if err != nil {
		return fmt.Errorf("get %s to convert its field ownership: %w", result.Ref, err)
	}
	if object.GetUID() != result.Live.GetUID() {
		return fmt.Errorf("convert field ownership of %s: %w", result.Ref, newConflict(result.Ref, errReplaced))
	}
	// The patch carries the resourceVersion, so that it fails if another writer was faster.
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(object, sets.New(FieldManager), FieldManager)
	if err != nil {
		return fmt.Errorf("convert field ownership of %s: %w", result.Ref, err)
	}
	if patch == nil {
		return nil
	}
	if _, err := w.client.Patch(ctx, result.Ref, types.JSONPatchType, patch, FieldManager); err != nil {
		return fmt.Errorf("convert field ownership of %s: %w", result.Ref, err)
	}
	return nil
}

// keepsFieldSet reports whether the apply has every field that the POST had, so that it removes none.
func keepsFieldSet(result plan.Result) bool {
	return result.FieldSet != "" && result.FieldSet == result.Live.GetAnnotations()[v1.AnnotationCreatedFieldSet]
}

func annotate(object *unstructured.Unstructured, key, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}
