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

// trace is all that is kept of a ConfigMap or Secret that may be anybody's: what it is called, and
// which state of it was seen. It never had the content: the API server sends metadata only. A
// metav1.PartialObjectMetadata with the same fields takes three times the memory, and a cluster may
// have ten thousands of Secrets.
type trace struct {
	namespace       unique.Handle[string]
	name            string
	uid             types.UID
	resourceVersion string
}

var _ metav1.ObjectMetaAccessor = (*trace)(nil)

// newTrace is the transform of the informers of references. It may be called more than once on one
// object, as the reflector demands.
func newTrace(object any) (any, error) {
	switch object.(type) {
	case *trace, cache.DeletedFinalStateUnknown:
		return object, nil
	}
	m, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	return &trace{
		namespace:       unique.Make(m.GetNamespace()),
		name:            m.GetName(),
		uid:             m.GetUID(),
		resourceVersion: m.GetResourceVersion(),
	}, nil
}

// GetObjectMeta is how the informer finds the key. What it returns is a copy.
func (t *trace) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: t.namespace.Value(), Name: t.name, UID: t.uid, ResourceVersion: t.resourceVersion}
}

// meta is GetObjectMeta of a trace that may be nil.
func (t *trace) meta() metav1.Object {
	if t == nil {
		return nil
	}
	return t.GetObjectMeta()
}

func (t *trace) objectName() cache.ObjectName {
	return cache.ObjectName{Namespace: t.namespace.Value(), Name: t.name}
}

func (t *trace) version() reference.Version {
	return reference.Version{UID: t.uid, ResourceVersion: t.resourceVersion}
}
