// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/plan"
)

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
