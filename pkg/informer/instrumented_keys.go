// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// The functions below return the Application of an object according to its metadata.

func ownName(object metav1.Object) cache.ObjectName { return cache.MetaObjectToName(object) }

func noApplication(metav1.Object) cache.ObjectName { return cache.ObjectName{} }

func firstApplication(object metav1.Object) cache.ObjectName {
	label := object.GetLabels()[v1.LabelApplication]
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && controller.Kind == v1.ApplicationKind {
		label = controller.Name
	}
	return inNamespaceOf(object, label)
}

func encodedApplication(object any) cache.ObjectName {
	encoded, ok := object.(*Encoded)
	if !ok {
		return cache.ObjectName{}
	}
	return inNamespaceOf(encoded, cmp.Or(encoded.Owner, encoded.Label))
}

// decoder returns a function that decodes a cached child.
func decoder(kind child.Kind, example runtime.Object) func(any) (any, error) {
	return func(cached any) (any, error) {
		encoded, isEncoded := cached.(*Encoded)
		object, isObject := example.DeepCopyObject().(child.Object)
		if !isEncoded || !isObject {
			return nil, fmt.Errorf("the cache of %s has a %T", kind, cached)
		}
		if err := encoded.decodeInto(object, kind); err != nil {
			return nil, err
		}
		if o, ok := object.(*unstructured.Unstructured); ok {
			return o.Object, nil // A comparison of its Go fields would not show what changed.
		}
		return object, nil
	}
}

func labelledApplication(object metav1.Object) cache.ObjectName {
	return inNamespaceOf(object, object.GetLabels()[v1.LabelApplication])
}

func podApplication(object any) cache.ObjectName {
	switch o := object.(type) {
	case *child.Pod:
		return inNamespaceOf(o, o.Application)
	case *child.ReplicaSet:
		return inNamespaceOf(o, o.Application)
	default:
		return cache.ObjectName{}
	}
}

func inNamespaceOf(object metav1.Object, application string) cache.ObjectName {
	if application == "" {
		return cache.ObjectName{}
	}
	return cache.ObjectName{Namespace: object.GetNamespace(), Name: application}
}
