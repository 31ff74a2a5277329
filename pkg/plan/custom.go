// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"fairlead.dev/fairlead/pkg/child"
)

// customSchema is the schema of kinds that come with a CustomResourceDefinition: all of metadata, and the rest with atomic
// lists. That holds for the rendered lists of HTTPRoutes and ServiceMonitors. The cluster has the real schema, in some
// version; a compiled-in one would fail on fields that it does not know.
const customSchema = `types:
- name: object
  map:
    fields:
    - name: metadata
      type: {namedType: metadata}
    - name: spec
      type: {namedType: spec}
    elementType: {namedType: __untyped_deduced_}
- name: metadata
  map:
    fields:
    - name: ownerReferences
      type:
        list:
          elementType: {namedType: __untyped_deduced_}
          elementRelationship: associative
          keys: [uid]
    elementType: {namedType: __untyped_deduced_}
- name: spec
  map:
    fields:
    - name: selector # of a ServiceMonitor
      type: {namedType: __untyped_atomic_}
    elementType: {namedType: __untyped_deduced_}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
- name: __untyped_deduced_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_deduced_}, elementRelationship: separable}
`

// newCustomType reads customSchema, a constant that a test reads too.
func newCustomType() typed.ParseableType {
	parser, err := typed.NewParser(customSchema)
	if err != nil {
		panic(err)
	}
	return parser.Type("object")
}

// typedPair makes both comparable, by the schema of their kind.
func (d differ) typedPair(kind child.Kind, desired *unstructured.Unstructured, live child.Object) (want, have *typed.TypedValue, wantErr, haveErr error) {
	if !kind.Optional() {
		want, wantErr = d.converter.ObjectToTyped(desired)
		// The API server has already checked the live object, and an older server may allow what the
		// schema compiled in here does not.
		have, haveErr = d.converter.ObjectToTyped(live, typed.AllowDuplicates)
		return want, have, wantErr, haveErr
	}
	want, wantErr = d.custom.FromUnstructured(desired.Object)
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return want, nil, wantErr, err
	}
	have, haveErr = d.custom.FromUnstructured(fields, typed.AllowDuplicates)
	return want, have, wantErr, haveErr
}
