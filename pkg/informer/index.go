// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// byApplication is the name of the index that finds the children of an Application.
const byApplication = "application"

// ApplicationsOf returns the Applications that a child may concern: the one that its controller
// ownerReference names, and the one that its label names. The label matters where the
// reference was lost, or where an object of somebody else blocks the name of a child. Nothing
// is proven here; the sync checks the UID.
func ApplicationsOf(object metav1.Object) []cache.ObjectName {
	var names []cache.ObjectName
	controller := metav1.GetControllerOfNoCopy(object)
	if controller != nil && controller.Kind == v1.ApplicationKind && controller.APIVersion == v1.SchemeGroupVersion.String() {
		names = append(names, cache.ObjectName{Namespace: object.GetNamespace(), Name: controller.Name})
	}
	if label := object.GetLabels()[v1.LabelApplication]; label != "" && (len(names) == 0 || names[0].Name != label) {
		names = append(names, cache.ObjectName{Namespace: object.GetNamespace(), Name: label})
	}
	return names
}

// applicationIndex is the index function behind byApplication.
func applicationIndex(object any) ([]string, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	names := ApplicationsOf(accessor)
	keys := make([]string, 0, len(names))
	for _, name := range names {
		keys = append(keys, name.String())
	}
	return keys, nil
}
