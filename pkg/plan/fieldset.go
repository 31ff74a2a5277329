// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"fairlead.dev/fairlead/pkg/child"
)

// A child that was created by POST belongs to that POST, field by field, until its ownership is converted, which costs a
// read and a write. An apply needs that only to take a field away: what it renders, it owns as well. Whether it renders
// everything that the POST did shows in the field set.

// FieldSetHash is a hash over which fields are rendered: their names, and of list items the keys, as field ownership has them.
// Values are not in it. "" is that of a kind without a schema.
func (d Differ) FieldSetHash(desired child.Desired) string {
	return d.read().schemas.hashFields(desired)
}

// fieldSetOf is what a new child is to carry: of a Deployment, its shape. The others change so seldom, and so few of them
// at once, that it is not worth its bytes in each.
func (d Differ) fieldSetOf(desired child.Desired) string {
	if desired.Kind != child.Deployment {
		return ""
	}
	return d.FieldSetHash(desired)
}

func (s schemas) hashFields(desired child.Desired) string {
	kind, found := s[desired.Kind]
	if !found {
		return ""
	}
	sum := sha256.New()
	kind.hashFields(sum, kind.root, fieldsOf(desired.Configuration))
	return hex.EncodeToString(sum.Sum(nil)[:10])
}

func (k kindSchema) hashFields(sum hash.Hash, ref schema.TypeRef, rendered jsonValue) {
	atom, found := k.schema.Resolve(ref)
	switch {
	case !found:
	case rendered.isObject() && atom.Map != nil && atom.Map.ElementRelationship != schema.Atomic:
		k.hashMap(sum, atom.Map, rendered)
	case rendered.isList() && atom.List != nil && atom.List.ElementRelationship == schema.Associative:
		k.hashList(sum, atom.List, rendered)
	}
}

func (k kindSchema) hashMap(sum hash.Hash, m *schema.Map, rendered jsonValue) {
	fields := map[string]jsonValue{}
	names := []string{}
	for name, field := range rendered.fields() {
		fields[name], names = field, append(names, name)
	}
	slices.Sort(names)
	fmt.Fprint(sum, "{")
	for _, name := range names {
		fmt.Fprintf(sum, "%q", name)
		k.hashFields(sum, typeOf(m, name), fields[name])
	}
	fmt.Fprint(sum, "}")
}

func (k kindSchema) hashList(sum hash.Hash, l *schema.List, rendered jsonValue) {
	fmt.Fprint(sum, "[")
	for i := range rendered.items() {
		item := rendered.at(i)
		if len(l.Keys) == 0 {
			fmt.Fprintf(sum, "%q", item.text())
		}
		for _, name := range l.Keys {
			if key, found := item.get(name); found {
				fmt.Fprintf(sum, "%q:%q", name, key.text())
			}
		}
		k.hashFields(sum, l.ElementType, item)
	}
	fmt.Fprint(sum, "]")
}
