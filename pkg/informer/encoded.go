// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"fmt"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Encoded is a child in the form in which the cache keeps it: its identity, its possible owner, and all the rest as
// encoded bytes. A sync decodes the few that it reads. As a Go value a Deployment takes 9 KiB, mostly nil pointers;
// encoded it takes 2.
type Encoded struct {
	// ObjectMeta has the namespace, name, UID, resourceVersion and deletionTimestamp that caches and handlers need.
	// The bytes have the rest of the metadata.
	metav1.ObjectMeta
	// Owner is the Application that the controller ownerReference names, and Label the one that v1.LabelApplication
	// names. The index finds the child by them; they prove nothing.
	Owner, Label string
	// OwnerUID is the UID of the owner according to the child, in its ownerReference or in v1.AnnotationOwnerUID.
	// Only routes have it.
	OwnerUID types.UID
	// routes are the host names and paths of a live Ingress or HTTPRoute.
	routes []v1.RouteKey
	data   []byte
}

// message is an API type that encodes itself as protobuf, as the built-in types do.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// Encode encodes a live object, and keeps no reference to it. Types without protobuf are encoded as JSON. Encoding an
// object that was decoded cannot fail.
func Encode(object child.Object) (*Encoded, error) {
	data, err := marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
	}
	e := &Encoded{
		ObjectMeta: metav1.ObjectMeta{
			// Most children share the name of their Application, and all in a namespace share its name.
			Namespace: intern(object.GetNamespace()), Name: intern(object.GetName()),
			UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
			DeletionTimestamp: object.GetDeletionTimestamp(),
		},
		Label:  intern(object.GetLabels()[v1.LabelApplication]),
		routes: child.RouteKeys(object),
		data:   data,
	}
	controller := metav1.GetControllerOfNoCopy(object)
	if controller != nil && controller.Kind == v1.ApplicationKind && controller.APIVersion == v1.SchemeGroupVersion.String() {
		e.Owner = intern(controller.Name)
	}
	switch {
	case e.routes == nil:
	case e.Owner != "":
		e.OwnerUID = controller.UID
	case controller == nil:
		e.OwnerUID = types.UID(object.GetAnnotations()[v1.AnnotationOwnerUID])
	}
	return e, nil
}

// RouteKeys returns the host names and paths that the child serves, or nil if it is no route.
func (e *Encoded) RouteKeys() []v1.RouteKey { return e.routes }

// EachHost calls f for the host name of each route key, until f returns false.
func (e *Encoded) EachHost(f func(host string) bool) {
	for _, key := range e.routes {
		if !f(key.Host) {
			return
		}
	}
}

// decodeInto decodes into an empty object of the type that was encoded, and sets its kind, by which structured merge
// finds the schema.
func (e *Encoded) decodeInto(object child.Object, kind child.Kind) error {
	if err := unmarshal(e.data, object); err != nil {
		return fmt.Errorf("decode %s %s/%s: %w", kind, e.Namespace, e.Name, err)
	}
	object.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
	return nil
}

func marshal(object child.Object) ([]byte, error) {
	if m, ok := object.(message); ok {
		return m.Marshal()
	}
	return json.Marshal(object)
}

func unmarshal(data []byte, object child.Object) error {
	if m, ok := object.(message); ok {
		return m.Unmarshal(data)
	}
	return json.Unmarshal(data, object)
}

// intern returns the copy of a string that all caches share.
func intern(s string) string { return unique.Make(s).Value() }
