// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"bytes"
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// takeUndone takes over what kubectl rollout undo put into the pod template. What only the former revision had would otherwise be
// another client's, and stay, so that pods of neither revision would run. A retry may find it taken over already.
func (w *Writer) takeUndone(ctx context.Context, result plan.Result) (version string, err error) {
	version, err = w.takeFields(ctx, result, func(entries []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
		return withoutUndone(entries, result.Ref.Kind)
	})
	if err != nil {
		return "", fmt.Errorf("restore %s: %w", result.Ref, err)
	}
	return version, nil
}

// revisionPath is the annotation with the name of the revision. Its manager is who put a former revision back.
var revisionPath = fieldpath.MakePathOrDie("metadata", "annotations", v1.AnnotationRevision)

// withoutUndone moves the fields of the pod template from the client that put a former revision back to FieldManager. Those of others stay.
func withoutUndone(entries []metav1.ManagedFieldsEntry, kind child.Kind) ([]metav1.ManagedFieldsEntry, error) {
	undone := fieldpath.NewSet()
	for _, entry := range entries {
		if entry.Manager == FieldManager || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		fields := &fieldpath.Set{}
		if err := fields.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
			return nil, fmt.Errorf("read the managed fields of %s: %w", entry.Manager, err)
		}
		if fields.Has(revisionPath) {
			undone = undone.Union(fields.Difference(fields.RecursiveDifference(template)))
		}
	}
	return takenFields(entries, kind, undone, fieldpath.NewSet())
}

var template = fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "template"))
