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

// Encoded is a child as the cache keeps it: who it is, whose it may be, and all the rest as the bytes that it
// came in. A sync decodes the few that it looks at. As a Go value a Deployment takes 9 KiB, most of it
// pointers that are nil; encoded it takes 2.
type Encoded struct {
	// ObjectMeta has namespace, name, UID, resourceVersion and deletionTimestamp, as caches and handlers
	// need them. The rest of the metadata is among the bytes.
	metav1.ObjectMeta
	// Owner is the Application that the controller ownerReference names, and Label the one that
	// v1.LabelApplication names. They find the child, and prove nothing.
	Owner, Label string
	// OwnerUID is what the child names as its owner's, by reference or by v1.AnnotationOwnerUID, if it has routes.
	OwnerUID types.UID
	// routes are the host names and paths of a live Ingress or HTTPRoute.
	routes []v1.RouteKey
	data   []byte
}

// message is a type of the API that encodes itself as protobuf, as the built-in ones do.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// Encode encodes a live object, and keeps no reference to it. Types without protobuf are encoded as
// JSON. Encoding an object that was decoded cannot fail.
func Encode(object child.Object) (*Encoded, error) {
	data, err := marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
	}
	e := &Encoded{
		ObjectMeta: metav1.ObjectMeta{
			// A name is shared with the children of the same name, a namespace with all in it.
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

// RouteKeys are the host names and paths that the child serves; nil if it is no route.
func (e *Encoded) RouteKeys() []v1.RouteKey { return e.routes }

// EachHost calls f for the host name of each route key, until f returns false.
func (e *Encoded) EachHost(f func(host string) bool) {
	for _, key := range e.routes {
		if !f(key.Host) {
			return
		}
	}
}

// decodeInto fills an empty object of the type that was packed, and gives it its kind: structured merge finds
// the schema by that.
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

// intern returns the one copy of a string that all caches share.
func intern(s string) string { return unique.Make(s).Value() }
