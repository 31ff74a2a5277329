// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Ref names one child.
type Ref struct {
	Kind      Kind
	Namespace string
	Name      string
}

func (r Ref) String() string { return r.Kind.Kind + " " + r.Namespace + "/" + r.Name }

// Desired is one rendered child: exactly the fields that Fairlead sets, and nothing else.
type Desired struct {
	Ref
	// Object has the fields in their JSON form; AnnotationRenderedHash is among them. Read-only.
	Object *unstructured.Unstructured
	// Hash is over all fields but AnnotationRenderedHash itself.
	Hash string
}

// NewDesired makes a Desired of an apply configuration, which must carry apiVersion, kind, name
// and namespace. The error is that of JSON encoding; for an apply configuration there is none.
func NewDesired(kind Kind, applyConfiguration any) (Desired, error) {
	encoded, err := json.Marshal(applyConfiguration)
	if err != nil {
		return Desired{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(encoded); err != nil {
		return Desired{}, fmt.Errorf("decode %s: %w", kind, err)
	}
	sum := sha256.Sum256(encoded)
	// 80 bits are plenty to tell versions of one object apart, and short enough to read.
	hash := hex.EncodeToString(sum[:10])
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1.AnnotationRenderedHash] = hash
	object.SetAnnotations(annotations)
	return Desired{
		Ref:    Ref{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()},
		Object: object,
		Hash:   hash,
	}, nil
}
