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

// This file is about field ownership: which manager owns a field decides whether an apply that
// leaves the field out removes it.

// CreatedByPost tells whether Fairlead's fields are still owned by the POST that created the
// object. The informers' transform keeps of managedFields just what this needs to know.
func CreatedByPost(object metav1.Object) bool {
	return slices.ContainsFunc(object.GetManagedFields(), isPost)
}

func isPost(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
}

// PostEntry returns what CreatedByPost needs of managedFields, without the fields themselves,
// which are often the larger half of an object. The informers' transform keeps only this.
func PostEntry(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	for _, entry := range entries {
		if isPost(entry) {
			return []metav1.ManagedFieldsEntry{{Manager: entry.Manager, Operation: entry.Operation}}
		}
	}
	return nil
}

// convertManagedFields makes the fields of the creating POST those of the applier. Without it, a
// field that is not rendered any more would stay for ever, owned by the POST. It costs a read
// and a write, once in the life of a child, before the first change of which fields it has.
func (w *Writer) convertManagedFields(ctx context.Context, result plan.Result) error {
	object, err := w.client.Get(ctx, result.Ref)
	if err != nil {
		return fmt.Errorf("get %s to convert its field ownership: %w", result.Ref, err)
	}
	if object.GetUID() != result.Live.GetUID() {
		return fmt.Errorf("convert field ownership of %s: %w", result.Ref, outOfDate(result.Ref, errReplaced))
	}
	// The patch carries the resourceVersion, so that it fails if somebody was faster.
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

// keepsShape tells whether the apply has every field that the POST had, so that none is to be taken away.
func keepsShape(result plan.Result) bool {
	return result.Shape != "" && result.Shape == result.Live.GetAnnotations()[v1.AnnotationCreatedShape]
}

func annotate(object *unstructured.Unstructured, key, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}

// startFrom gives the new Deployment a number of replicas to start from. The annotation tells that
// the number is Fairlead's until the first apply, which hands it over.
func startFrom(object *unstructured.Unstructured, replicas int32) {
	annotate(object, v1.AnnotationReplicasManaged, "true")
	// The only error is that spec is no object, which a rendered Deployment's is.
	_ = unstructured.SetNestedField(object.Object, int64(replicas), "spec", "replicas")
}

// handOverReplicas makes another manager an owner of spec.replicas, with the present number, so
// that the apply which follows can leave the field out without it falling back to 1. Whoever
// scales next takes it over from there. The resourceVersion makes it fail if the number was
// changed meanwhile.
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

// scale writes the number of replicas alone, while the rest of the Deployment waits. The manager that
// numbers are handed over to keeps it until the apply takes it back. An apply of Fairlead's own with this
// field alone would remove all others.
func (w *Writer) scale(ctx context.Context, owner cache.ObjectName, result plan.Result) plan.Result {
	scaled, err := w.handOverReplicas(ctx, result)
	if err != nil {
		result.Err = err
		return result
	}
	return w.wrote(owner, result, scaled)
}
