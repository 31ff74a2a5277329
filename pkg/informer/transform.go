// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
)

// trimApplication drops what a sync never reads from an Application before it enters the cache. Of one
// that is too large it keeps only what the sync needs to say so: what a user may store must not decide
// how much memory the controller takes. It may be called more than once on one object, as the reflector demands.
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

// packChild makes of a child what is kept of it. Of managedFields, often half of an object, only the fact
// remains that the object was created by a POST. A child that is packed is left as it is.
func packChild(object any) (any, error) {
	live, ok := object.(child.Object)
	if !ok {
		// Packed already, or a tombstone (DeletedFinalStateUnknown), whose object was packed when it entered.
		return object, nil
	}
	live.SetManagedFields(apply.PostEntry(live.GetManagedFields()))
	if annotations := live.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		live.SetAnnotations(annotations) // Of unstructured data they are a copy.
	}
	return child.Pack(live)
}
