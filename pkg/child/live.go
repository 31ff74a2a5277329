// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Object is a live child: a typed Kubernetes object with its apiVersion and kind, decoded from the cache for one
// sync. No stage changes it.
type Object interface {
	metav1.Object
	runtime.Object
}

// Snapshot has everything that one sync reads, taken from the informers at one moment. No stage changes it.
type Snapshot struct {
	Application *v1.Application
	// Children are the live objects that carry the Application's label or controller ownerReference.
	Children map[Ref]Object
	// Unavailable are the optional kinds that the controller cannot read or write now. The sync knows nothing about
	// their objects.
	Unavailable map[Kind]Unavailable
	// ReplicaSets and Pods are those that carry the Application's label, in no order. The chain of UIDs proves which
	// are the Application's: Deployment, ReplicaSet, Pod. The cache owns them: never change them.
	ReplicaSets []*ReplicaSet
	Pods        []*Pod
	// SameSpecSince is a generation of the Deployment since which its spec is known to be the same; 0 if that is not known.
	SameSpecSince int64
}

// Unavailable is why the controller cannot read or write an optional kind.
type Unavailable struct {
	// Message explains it to a user.
	Message string
	// ListFailed means that the cluster serves the kind, but cannot list its objects at the moment. So another kind
	// must not take its place.
	ListFailed bool
	// MayExist means that the cluster serves the kind, so objects may exist that the controller cannot see. Otherwise
	// they were deleted with their API.
	MayExist bool
}

// Get returns the live child of this name as its own type, or the zero T if there is none.
//
//	deployment := child.Get[*appsv1.Deployment](snapshot, child.Deployment, name)
func Get[T Object](s Snapshot, kind Kind, name string) T {
	object, _ := s.Children[Ref{Kind: kind, Namespace: s.Application.Namespace, Name: name}].(T)
	return object
}
