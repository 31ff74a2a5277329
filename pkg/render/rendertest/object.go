// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rendertest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/pkg/child"
)

// fataler is the common part of *testing.T, *testing.B and *rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Object returns a rendered child in the form in which it is written.
func Object(t fataler, desired child.Desired) *unstructured.Unstructured {
	t.Helper()
	object, err := desired.Object()
	if err != nil {
		t.Fatalf("%s: %v", desired.Ref, err)
	}
	return object
}
