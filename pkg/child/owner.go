// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// OwnedBy reports whether the object is the Application's: by UID, because a name is no proof. The
// controller ownerReference has it. With deletionPolicy Orphan there is none, because the garbage
// collector would delete the child by it; then AnnotationOwnerUID has it.
//
// A user who may write the annotation of an object may write its ownerReferences too, so the annotation
// proves as much. Where an object has a controller, the annotation proves nothing.
func OwnedBy(object metav1.Object, application *v1.Application) bool {
	uid := object.GetAnnotations()[v1.AnnotationOwnerUID]
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		uid = string(controller.UID)
	}
	return uid != "" && uid == string(application.UID)
}

// Collectable reports whether the garbage collector may delete the object because of the Application: it
// has an ownerReference to it, as its controller or not.
func Collectable(object metav1.Object, application *v1.Application) bool {
	for _, owner := range object.GetOwnerReferences() {
		if owner.UID == application.UID {
			return true
		}
	}
	return false
}

// OutlivesApplication reports whether deletionPolicy Orphan is about the kind. The history of an
// Application always goes with it: nothing would ever prune it.
func (k Kind) OutlivesApplication() bool { return k != ControllerRevision }

// IsOrphaned reports whether another writer removed what names the child's owner: the child has no controller
// and no AnnotationOwnerUID of the Application, and by its UID it is the object that the Application is known to own.
func IsOrphaned(application *v1.Application, ref Ref, live metav1.Object) bool {
	return !OwnedBy(live, application) && metav1.GetControllerOfNoCopy(live) == nil &&
		live.GetUID() != "" && live.GetUID() == KnownUID(application, ref)
}

// KnownUID is the UID under which the status last listed the child, or "".
func KnownUID(application *v1.Application, ref Ref) types.UID {
	for _, resource := range application.Status.Resources {
		if resource.Group == ref.Kind.Group && resource.Kind == ref.Kind.Kind && resource.Name == ref.Name {
			return resource.UID
		}
	}
	return ""
}

// RefOf finds the child that a status lists. It is not known if a newer or older Fairlead wrote the status.
func RefOf(application *v1.Application, resource v1.ResourceStatus) (ref Ref, known bool) {
	for _, kind := range AllKinds() {
		if kind.Group == resource.Group && kind.Kind == resource.Kind {
			return Ref{Kind: kind, Namespace: application.Namespace, Name: resource.Name}, true
		}
	}
	return Ref{}, false
}
