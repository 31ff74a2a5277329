// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
)

// trimApplication drops what a sync never reads from an Application before it enters the cache.
// It may be called more than once on one object, as the reflector demands.
func trimApplication(object any) (any, error) {
	if application, ok := object.(*v1.Application); ok {
		application.ManagedFields = nil
		delete(application.Annotations, corev1.LastAppliedConfigAnnotation)
	}
	return object, nil
}

// trimChild drops what a sync never compares from a child. Of managedFields, often half of an
// object, only the fact remains that the object was created by a POST. apiVersion and kind,
// which decoding strips, are put back, since structured merge finds the schema by them.
func trimChild(object any) (any, error) {
	child, ok := object.(runtime.Object)
	if !ok {
		// A tombstone (DeletedFinalStateUnknown): its object was trimmed when it entered.
		return object, nil
	}
	accessor, err := meta.Accessor(child)
	if err != nil {
		return nil, fmt.Errorf("trim %T: %w", object, err)
	}
	accessor.SetManagedFields(apply.PostEntry(accessor.GetManagedFields()))
	if annotations := accessor.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		delete(annotations, corev1.LastAppliedConfigAnnotation)
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(child)
	if err != nil {
		return nil, fmt.Errorf("trim %T: %w", object, err)
	}
	child.GetObjectKind().SetGroupVersionKind(kinds[0])
	return object, nil
}
