// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// OwnedBy reports whether the Application owns the object. The UID decides, because a name proves nothing. It is in
// the controller ownerReference. With deletionPolicy Orphan the garbage collector would delete a child with an
// ownerReference; there, AnnotationOwnerUID has the UID instead.
//
// A user who may write the annotation of an object may write its ownerReferences too, so the annotation proves as
// much. On an object with a controller the annotation proves nothing.
func OwnedBy(object metav1.Object, application *v1.Application) bool {
	uid := object.GetAnnotations()[v1.AnnotationOwnerUID]
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		uid = string(controller.UID)
	}
	return uid != "" && uid == string(application.UID)
}

// Collectable reports whether the garbage collector may delete the object because of the Application: whether it has
// an ownerReference to it, as its controller or not.
func Collectable(object metav1.Object, application *v1.Application) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.UID == application.UID {
			return true
		}
	}
	return false
}

// OutlivesApplication reports whether deletionPolicy Orphan applies to the kind. The history of an Application is
// always deleted with it, because no controller would ever prune it.
func (k Kind) OutlivesApplication() bool { return k != ControllerRevision }

// IsOrphaned reports whether another writer removed the owner of the child: the child has no controller and no
// AnnotationOwnerUID of the Application, but by its UID it is the object that the Application owned.
func IsOrphaned(application *v1.Application, ref Ref, live metav1.Object) bool {
	return !OwnedBy(live, application) && metav1.GetControllerOfNoCopy(live) == nil &&
		live.GetUID() != "" && live.GetUID() == KnownUID(application, ref)
}

// KnownUID returns the UID of the child in the Application's status, or "".
func KnownUID(application *v1.Application, ref Ref) types.UID {
	for _, resource := range application.Status.Resources {
		if resource.Group == ref.Kind.Group && resource.Kind == ref.Kind.Kind && resource.Name == ref.Name {
			return resource.UID
		}
	}
	return ""
}

// RefOf returns the reference to a child that a status lists. It is unknown if another version of Fairlead, with
// other kinds, wrote the status.
func RefOf(application *v1.Application, resource v1.ResourceStatus) (ref Ref, known bool) {
	for _, kind := range AllKinds() {
		if kind.Group == resource.Group && kind.Kind == resource.Kind {
			return Ref{Kind: kind, Namespace: application.Namespace, Name: resource.Name}, true
		}
	}
	return Ref{}, false
}
