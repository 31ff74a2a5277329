// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"fairlead.dev/fairlead/pkg/child"
)

// Nearly every comparison of a resync or a restart finds nothing. Structured merge takes 0.7 ms for six
// children: it validates both sides against the schema, and then collects what differs. alike only
// answers whether anything may differ, and stops at the first place where it is not sure; then structured
// merge decides. So it has to be right only where it says that nothing differs.

// schemas are the schemas of the kinds of children.
type schemas map[child.Kind]kindSchema

type kindSchema struct {
	schema *schema.Schema
	root   schema.TypeRef
}

// schemasOf asks the converter for the schema of each kind that it knows; it gives one with any object.
func schemasOf(converter managedfields.TypeConverter, custom typed.ParseableType) schemas {
	all := schemas{}
	for _, kind := range child.OptionalKinds() {
		all[kind] = kindSchema{schema: custom.Schema, root: custom.TypeRef}
	}
	for _, kind := range child.Kinds() {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind.GroupVersionKind())
		if converted, err := converter.ObjectToTyped(object); err == nil {
			all[kind] = kindSchema{schema: converted.Schema(), root: converted.TypeRef()}
		}
	}
	return all
}

// alike tells that each rendered field is live and the same. false: perhaps not.
func (s schemas) alike(desired child.Desired, object child.Object) bool {
	kind, found := s[desired.Ref.Kind]
	if !found {
		return false
	}
	if u, ok := object.(*unstructured.Unstructured); ok {
		return kind.alike(kind.root, desired.Object.Object, liveOf(u.Object))
	}
	return kind.alike(kind.root, desired.Object.Object, liveOf(object))
}

// alike walks the rendered value, which consists of what JSON decoding makes.
func (k kindSchema) alike(ref schema.TypeRef, want any, have live) bool {
	atom, found := k.schema.Resolve(ref)
	if !found {
		return false
	}
	switch want := want.(type) {
	case map[string]any:
		if atom.Map == nil || atom.Map.ElementRelationship == schema.Atomic {
			return have.same(want)
		}
		return k.alikeMaps(atom.Map, want, have)
	case []any:
		if atom.List == nil || atom.List.ElementRelationship != schema.Associative {
			return have.same(want)
		}
		return k.alikeLists(atom.List, want, have)
	default:
		return have.same(want)
	}
}

// alikeMaps looks only at rendered fields. Others may have set more.
func (k kindSchema) alikeMaps(m *schema.Map, want map[string]any, have live) bool {
	for name, wanted := range want {
		ref := m.ElementType
		if field, found := m.FindField(name); found {
			ref = field.Type
		}
		value, found := have.get(name)
		if !found || !k.alike(ref, wanted, value) {
			return false
		}
	}
	// Of an empty map there is nothing to look at, but that it is one.
	return len(want) > 0 || have.same(want)
}

// alikeLists looks only at rendered items, which must be live in the rendered order. Others may have put
// theirs before, between and behind.
func (k kindSchema) alikeLists(l *schema.List, want []any, have live) bool {
	if have.length() < 0 {
		return false
	}
	at := 0
	for _, wanted := range want {
		i := indexOf(l.Keys, wanted, have, at)
		if i < 0 || !k.alike(l.ElementType, wanted, have.at(i)) {
			return false
		}
		at = i + 1
	}
	// An item that is live twice may be rendered once and changed the other time.
	return have.length() == len(want) || unique(l.Keys, have)
}

// indexOf returns the index, from start on, of the live item with the keys of the rendered one, or -1.
func indexOf(keys []string, item any, list live, start int) int {
	for i := start; i < list.length(); i++ {
		if sameKeys(keys, item, list.at(i)) {
			return i
		}
	}
	return -1
}

// sameKeys tells whether the items are the same one. Of a set, the items are the keys. For a key that is
// not rendered the schema has a default, so without it the answer is no.
func sameKeys(keys []string, want any, have live) bool {
	if len(keys) == 0 {
		return have.same(want)
	}
	fields, isMap := want.(map[string]any)
	if !isMap {
		return false
	}
	for _, key := range keys {
		wanted, rendered := fields[key]
		value, found := have.get(key)
		if !rendered || !found || !value.same(wanted) {
			return false
		}
	}
	return true
}

// unique tells whether no item of a live list has the keys of another one.
func unique(keys []string, list live) bool {
	for i := range list.length() {
		for j := range i {
			if equalKeys(keys, list.at(i), list.at(j)) {
				return false
			}
		}
	}
	return true
}

func equalKeys(keys []string, a, b live) bool {
	if len(keys) == 0 {
		return mayEqual(a, b)
	}
	for _, key := range keys {
		one, hasOne := a.get(key)
		other, hasOther := b.get(key)
		if hasOne != hasOther || hasOne && !mayEqual(one, other) {
			return false
		}
	}
	return true
}
