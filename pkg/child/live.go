// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Object is a live child: a typed Kubernetes object with its apiVersion and kind set, unpacked from the
// cache for one sync. No stage changes it.
type Object interface {
	metav1.Object
	runtime.Object
}

// Snapshot is everything that one sync knows, taken at one moment from the informers. Nothing
// changes it afterwards.
type Snapshot struct {
	Application *v1.Application
	// Children are the live objects that carry the Application's label or controller ownerReference.
	Children map[Ref]Object
	// Unavailable are the optional kinds that could not be looked at. Nothing is known of their objects, and
	// none can be written.
	Unavailable map[Kind]Unavailable
	// ReplicaSets and Pods are those that carry the Application's label, in no order. Whose they are
	// is proven by the chain of UIDs: Deployment, ReplicaSet, Pod. They belong to the cache: never change
	// them.
	ReplicaSets []*ReplicaSet
	Pods        []*Pod
}

// Unavailable is why an optional kind cannot be looked at.
type Unavailable struct {
	// Why is the reason as a person reads it.
	Message string
	// ListFailed tells that the cluster serves the kind, and only does not list its objects at the moment. So
	// another kind must not take its place.
	ListFailed bool
	// MayExist tells that the cluster serves the kind, so that there may be objects of it which cannot be
	// seen. Without it they went with their API.
	MayExist bool
}

// Get returns the live child of that name, as its own type, or the zero T if there is none.
//
//	deployment := child.Get[*appsv1.Deployment](snapshot, child.Deployment, name)
func Get[T Object](s Snapshot, kind Kind, name string) T {
	object, _ := s.Children[Ref{Kind: kind, Namespace: s.Application.Namespace, Name: name}].(T)
	return object
}
