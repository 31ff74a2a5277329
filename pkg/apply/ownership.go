// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
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

// setInitialReplicas sets the replicas of a new Deployment. The annotation marks the number as Fairlead's until the
// first apply, which hands it over.
func setInitialReplicas(object *unstructured.Unstructured, replicas int32) {
	annotate(object, v1.AnnotationReplicasManaged, "true")
	// The only possible error is a spec that is not an object; a rendered Deployment has none.
	_ = unstructured.SetNestedField(object.Object, int64(replicas), "spec", "replicas")
}

// handOverReplicas makes another manager an owner of spec.replicas with the current number, so that the following
// apply can omit the field without resetting it to 1. The next writer that scales takes the field over. The
// resourceVersion makes the request fail if the number has changed.
func (w *Writer) handOverReplicas(ctx context.Context, result plan.Result) (*metav1.PartialObjectMetadata, error) {
	kind := result.Ref.Kind
	body, err := json.Marshal(map[string]any{
		"apiVersion": kind.GroupVersionKind().GroupVersion().String(),
		"kind":       kind.Kind,
		"metadata": map[string]any{
			"name":            result.Ref.Name,
			"namespace":       result.Ref.Namespace,
			"uid":             result.Live.GetUID(),
			"resourceVersion": result.Live.GetResourceVersion(),
		},
		"spec": map[string]any{"replicas": *result.HandOver},
	})
	if err != nil {
		return nil, fmt.Errorf("encode replicas of %s: %w", result.Ref, err)
	}
	patched, err := w.patch(ctx, result.Ref, types.ApplyPatchType, body, HandOverManager)
	if err != nil {
		return nil, fmt.Errorf("hand over replicas of %s: %w", result.Ref, err)
	}
	return patched, nil
}

// scale writes only the number of replicas, while the rest of the Deployment waits. HandOverManager owns the field
// until the next apply takes it back; an apply of Fairlead's own manager with this field alone would remove all
// others.
func (w *Writer) scale(ctx context.Context, owner cache.ObjectName, result plan.Result) plan.Result {
	scaled, err := w.handOverReplicas(ctx, result)
	if err != nil {
		result.Err = err
		return result
	}
	return w.recordWrite(owner, result, scaled)
}
