// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// isNamespace reports whether the object is a Namespace: a file may create the one that its Applications are in.
func (d *Document) isNamespace() bool {
	version, _ := d.object["apiVersion"].(string)
	return d.Kind == "Namespace" && version == corev1.SchemeGroupVersion.String()
}

// NamespaceBefore returns the labels of the last Namespace of this name before the document, as the API server would store them. kubectl
// applies the objects of files in their order, so that one behind the document comes too late for it.
func NamespaceBefore(documents []*Document, before *Document, name string) (labels map[string]string, found bool) {
	for _, d := range documents {
		if d == before {
			break
		}
		if d.syntax == nil && d.isNamespace() && d.Name == name {
			given, _, _ := unstructured.NestedStringMap(d.object, "metadata", "labels")
			labels, found = map[string]string{}, true
			maps.Copy(labels, given)
			labels[corev1.LabelMetadataName] = name
		}
	}
	return labels, found
}
