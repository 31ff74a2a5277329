// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"encoding/json"
	"fmt"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Packed is a child as the cache keeps it: who it is, whose it may be, and all the rest as the bytes that it
// came in. A sync unpacks the few that it looks at. As a Go value a Deployment takes 9 KiB, most of it
// pointers that are nil; packed it takes 2.
type Packed struct {
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

// Pack makes the Packed of a live object, which it keeps nothing of. Types without protobuf are packed as
// JSON. The error is that of encoding; for what was decoded there is none.
func Pack(object Object) (*Packed, error) {
	data, err := encode(object)
	if err != nil {
		return nil, fmt.Errorf("pack %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
	}
	p := &Packed{
		ObjectMeta: metav1.ObjectMeta{
			// A name is shared with the children of the same name, a namespace with all in it.
			Namespace: intern(object.GetNamespace()), Name: intern(object.GetName()),
			UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
			DeletionTimestamp: object.GetDeletionTimestamp(),
		},
		Label:  intern(object.GetLabels()[v1.LabelApplication]),
		routes: routeKeys(object),
		data:   data,
	}
	controller := metav1.GetControllerOfNoCopy(object)
	if controller != nil && controller.Kind == v1.ApplicationKind && controller.APIVersion == v1.SchemeGroupVersion.String() {
		p.Owner = intern(controller.Name)
	}
	switch {
	case p.routes == nil:
	case p.Owner != "":
		p.OwnerUID = controller.UID
	case controller == nil:
		p.OwnerUID = types.UID(object.GetAnnotations()[v1.AnnotationOwnerUID])
	}
	return p, nil
}

// RouteKeys are the host names and paths that the child serves; nil if it is no route.
func (p *Packed) RouteKeys() []v1.RouteKey { return p.routes }

// EachHost calls f for the host name of each route key, until f returns false.
func (p *Packed) EachHost(f func(host string) bool) {
	for _, key := range p.routes {
		if !f(key.Host) {
			return
		}
	}
}

// UnpackInto fills an empty object of the type that was packed, and gives it its kind: structured merge finds
// the schema by that.
func (p *Packed) UnpackInto(object Object, kind Kind) error {
	if err := decode(p.data, object); err != nil {
		return fmt.Errorf("unpack %s %s/%s: %w", kind, p.Namespace, p.Name, err)
	}
	object.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind())
	return nil
}

func encode(object Object) ([]byte, error) {
	if m, ok := object.(message); ok {
		return m.Marshal()
	}
	return json.Marshal(object)
}

func decode(data []byte, object Object) error {
	if m, ok := object.(message); ok {
		return m.Unmarshal(data)
	}
	return json.Unmarshal(data, object)
}

// intern returns the one copy of a string that everybody shares who keeps it.
func intern(s string) string { return unique.Make(s).Value() }
