// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// live is a value of a live object: a Go struct, or what JSON decoding makes. It is looked at where it stands. The
// values of structured merge can do the same, but are made anew for each look, and can do much more.
//
// The zero live is a value that is nil. What it cannot tell it answers with no.
type live struct{ reflect.Value }

func liveOf(object any) live { return resolve(reflect.ValueOf(object)) }

// resolve follows pointers and interfaces.
func resolve(v reflect.Value) live {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return live{v}
}

// entry tells how JSON has the type: its fields, or that it encodes itself, as a Quantity does.
func (l live) entry() *value.TypeReflectCacheEntry { return value.TypeReflectEntryOf(l.Type()) }

// get returns the value of a field or key. One that JSON leaves out is not there.
func (l live) get(name string) (live, bool) {
	switch {
	case l.Kind() == reflect.Struct && !l.entry().CanConvertToUnstructured():
		field, found := l.entry().Fields()[name]
		if !found {
			return live{}, false
		}
		v := field.GetFrom(l.Value)
		return resolve(v), !field.CanOmit(v)
	case l.Kind() == reflect.Map && l.Type().Key().Kind() == reflect.String:
		v := l.MapIndex(reflect.ValueOf(name).Convert(l.Type().Key()))
		return resolve(v), v.IsValid()
	default:
		return live{}, false
	}
}

// length is that of a list; of anything else it is -1. Bytes are no list: JSON has them as a string.
func (l live) length() int {
	if l.Kind() != reflect.Slice || l.Type().Elem().Kind() == reflect.Uint8 {
		return -1
	}
	return l.Len()
}

func (l live) at(i int) live { return resolve(l.Index(i)) }

// same tells whether it equals a rendered value as a whole.
func (l live) same(want any) bool {
	if !l.IsValid() {
		return want == nil
	}
	switch want := want.(type) {
	case string:
		if l.Kind() == reflect.String {
			return l.String() == want
		}
	case bool:
		return l.Kind() == reflect.Bool && l.Bool() == want
	case int64:
		if l.CanInt() {
			return l.Int() == want
		}
	}
	whole, ok := l.whole()
	return ok && value.Equals(value.NewValueInterface(want), whole)
}

// whole is the value as structured merge has it.
func (l live) whole() (value.Value, bool) {
	if entry := l.entry(); entry.CanConvertToUnstructured() {
		converted, err := entry.ToUnstructured(l.Value)
		return value.NewValueInterface(converted), err == nil
	}
	if l.Kind() == reflect.Map && l.Type() == reflect.TypeFor[map[string]any]() || l.Kind() == reflect.Slice && l.Type() == reflect.TypeFor[[]any]() {
		return value.NewValueInterface(l.Interface()), true
	}
	pointer := reflect.New(l.Type())
	pointer.Elem().Set(l.Value)
	made, err := value.NewValueReflect(pointer.Interface())
	return made, err == nil
}

// mayEqual tells whether two live values are equal, or may be.
func mayEqual(a, b live) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Kind() == reflect.String && b.Kind() == reflect.String {
		return a.String() == b.String()
	}
	one, ok := a.whole()
	other, okToo := b.whole()
	return !ok || !okToo || value.Equals(one, other)
}
