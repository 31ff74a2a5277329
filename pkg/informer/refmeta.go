// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"unique"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/reference"
)

// refMeta is everything that the cache keeps of a ConfigMap or Secret: its name and its version. It never has
// content, because the API server sends only metadata. A metav1.PartialObjectMetadata with the same fields takes
// three times the memory, and a cluster may have tens of thousands of Secrets.
type refMeta struct {
	namespace       unique.Handle[string]
	name            string
	uid             types.UID
	resourceVersion string
}

var _ metav1.ObjectMetaAccessor = (*refMeta)(nil)

// newRefMeta is the transform of the informers of references. The reflector may call it more than once for one
// object.
func newRefMeta(object any) (any, error) {
	switch object.(type) {
	case *refMeta, cache.DeletedFinalStateUnknown:
		return object, nil
	}
	m, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	return &refMeta{
		namespace:       unique.Make(m.GetNamespace()),
		name:            m.GetName(),
		uid:             m.GetUID(),
		resourceVersion: m.GetResourceVersion(),
	}, nil
}

// GetObjectMeta returns a copy of the metadata, from which the informer derives the key.
func (t *refMeta) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: t.namespace.Value(), Name: t.name, UID: t.uid, ResourceVersion: t.resourceVersion}
}

// meta is GetObjectMeta for a refMeta that may be nil.
func (t *refMeta) meta() metav1.Object {
	if t == nil {
		return nil
	}
	return t.GetObjectMeta()
}

func (t *refMeta) objectName() cache.ObjectName {
	return cache.ObjectName{Namespace: t.namespace.Value(), Name: t.name}
}

func (t *refMeta) version() reference.Version {
	return reference.Version{UID: t.uid, ResourceVersion: t.resourceVersion}
}
