// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// trimApplication removes what no sync reads from an Application before it enters the cache. Of an Application that
// is too large it keeps only what the sync needs to report that: users must not decide how much memory the controller
// takes. The reflector may call it more than once for one object.
func trimApplication(object any) (any, error) {
	application, ok := object.(*v1.Application)
	if !ok {
		return object, nil
	}
	application.ManagedFields = nil
	delete(application.Annotations, corev1.LastAppliedConfigAnnotation)
	if excess := application.FindExcess(); excess != nil {
		return application.WithoutExcess(excess), nil
	}
	return application, nil
}

// encodeChild returns the cached form of a child. Of managedFields, often half of an object, it keeps only whether a
// POST created the object. An encoded child stays as it is.
func encodeChild(object any) (any, error) {
	live, ok := object.(child.Object)
	if !ok {
		// Already encoded, or a tombstone (DeletedFinalStateUnknown), whose object was encoded when it entered.
		return object, nil
	}
	live.SetManagedFields(apply.PostEntry(live.GetManagedFields()))
	if annotations := live.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		live.SetAnnotations(annotations) // Unstructured objects return a copy.
	}
	return Encode(live)
}
