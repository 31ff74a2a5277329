// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Ref names one child.
type Ref struct {
	Kind      Kind
	Namespace string
	Name      string
}

func (r Ref) String() string { return r.Kind.Kind + " " + r.Namespace + "/" + r.Name }

// Desired is one rendered child: exactly the fields that Fairlead sets.
type Desired struct {
	Ref
	// Configuration has the fields: an apply configuration, or an unstructured object. It need not have
	// AnnotationRenderedHash. Never change it.
	Configuration any
	// Hash is the hash of all rendered fields.
	Hash string
	// IfUnchanged makes an apply fail if the live object is not the one that the plan saw, because the configuration has values of it.
	IfUnchanged bool
}

// configuration has the methods that all apply configurations share.
type configuration interface {
	GetAPIVersion() *string
	GetKind() *string
	GetNamespace() *string
	GetName() *string
}

// NewDesired returns the Desired of an apply configuration or of an unstructured object, which must have apiVersion,
// kind, name and namespace. The only other error is that of JSON encoding; apply configurations always encode.
func NewDesired(kind Kind, rendered any) (Desired, error) {
	ref := Ref{Kind: kind}
	var apiVersion, name string
	switch rendered := rendered.(type) {
	case *unstructured.Unstructured:
		apiVersion, name, ref.Namespace, ref.Name = rendered.GetAPIVersion(), rendered.GetKind(), rendered.GetNamespace(), rendered.GetName()
	case configuration:
		apiVersion, name = ptr.Deref(rendered.GetAPIVersion(), ""), ptr.Deref(rendered.GetKind(), "")
		ref.Namespace, ref.Name = ptr.Deref(rendered.GetNamespace(), ""), ptr.Deref(rendered.GetName(), "")
	}
	if schema.FromAPIVersionAndKind(apiVersion, name) != kind.GroupVersionKind() || ref.Name == "" {
		return Desired{}, fmt.Errorf("%T is not an apply configuration of a named %s", rendered, kind)
	}
	encoded, err := json.Marshal(rendered)
	if err != nil {
		return Desired{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	sum := sha256.Sum256(encoded)
	// 80 bits are plenty to tell versions of one object apart, and short enough to read.
	return Desired{Ref: ref, Configuration: rendered, Hash: hex.EncodeToString(sum[:10])}, nil
}

// Object returns the child in the form in which the writer sends it, with AnnotationRenderedHash. Each call creates a
// new object, so the caller may change it. Few syncs need it. The only error is that of encoding, which NewDesired
// would have returned too.
func (d Desired) Object() (*unstructured.Unstructured, error) {
	encoded, err := json.Marshal(d.Configuration)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", d.Ref, err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		return nil, fmt.Errorf("decode %s: %w", d.Ref, err)
	}
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1.AnnotationRenderedHash] = d.Hash
	object.SetAnnotations(annotations)
	return object, nil
}
