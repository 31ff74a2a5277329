// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"reflect"
	"strconv"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// jsonValue is a value of an object as JSON has it: of a Go struct, or of what JSON decoding makes. It is looked at where
// it stands. The values of structured merge can do the same, but are made anew for each look, and can do much more.
//
// The zero jsonValue is a value that is nil.
type jsonValue struct{ reflect.Value }

func jsonValueOf(object any) jsonValue { return resolve(reflect.ValueOf(object)) }

// resolve follows pointers and interfaces.
func resolve(v reflect.Value) jsonValue {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return jsonValue{v}
}

// entry tells how JSON has the type: its fields, or that it encodes itself, as a Quantity does.
func (v jsonValue) entry() *value.TypeReflectCacheEntry { return value.TypeReflectEntryOf(v.Type()) }

// isObject reports whether JSON has it in braces.
func (v jsonValue) isObject() bool {
	switch v.Kind() {
	case reflect.Struct:
		return !v.entry().CanConvertToUnstructured()
	case reflect.Map:
		return v.Type().Key().Kind() == reflect.String
	default:
		return false
	}
}

// isList reports whether JSON has it in brackets. It has bytes as a string.
func (v jsonValue) isList() bool {
	return v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8
}

// fields are those of an object, without what JSON leaves out.
func (v jsonValue) fields() iter.Seq2[string, jsonValue] {
	return func(yield func(string, jsonValue) bool) {
		if v.Kind() == reflect.Map {
			for entries := v.MapRange(); entries.Next(); {
				if !yield(entries.Key().String(), resolve(entries.Value())) {
					return
				}
			}
			return
		}
		for _, field := range v.entry().OrderedFields() {
			if found := field.GetFrom(v.Value); !field.CanOmit(found) && !yield(field.JsonName, resolve(found)) {
				return
			}
		}
	}
}

// get returns a field of an object.
func (v jsonValue) get(name string) (field jsonValue, found bool) {
	switch {
	case !v.isObject():
		return jsonValue{}, false
	case v.Kind() == reflect.Map:
		key := reflect.ValueOf(name)
		if v.Type().Key() != key.Type() {
			key = key.Convert(v.Type().Key())
		}
		found := v.MapIndex(key)
		return resolve(found), found.IsValid()
	default:
		entry, known := v.entry().Fields()[name]
		if !known {
			return jsonValue{}, false
		}
		found := entry.GetFrom(v.Value)
		return resolve(found), !entry.CanOmit(found)
	}
}

// items is the length of a list, and 0 of anything else.
func (v jsonValue) items() int {
	if !v.isList() {
		return 0
	}
	return v.Len()
}

func (v jsonValue) at(i int) jsonValue { return resolve(v.Index(i)) }

// equals reports whether JSON would have the same for both. Of what cannot be encoded it says no.
func (v jsonValue) equals(other jsonValue) bool {
	switch {
	case !v.IsValid() || !other.IsValid():
		return v.IsValid() == other.IsValid()
	case v.isObject() && other.isObject():
		return v.sameFields(other)
	case v.isList() && other.isList():
		return v.sameItems(other)
	case v.Kind() == reflect.String && other.Kind() == reflect.String:
		return v.String() == other.String()
	case v.Kind() == reflect.Bool && other.Kind() == reflect.Bool:
		return v.Bool() == other.Bool()
	case v.CanInt() && other.CanInt():
		return v.Int() == other.Int()
	case v.Type() == other.Type() && v.Comparable() && v.Equal(other.Value):
		// Of those that encode themselves, the same need not be encoded. Others may still be encoded to the same.
		return true
	default:
		one, ok := v.whole()
		two, okToo := other.whole()
		return ok && okToo && value.Equals(one, two)
	}
}

// isOpaque reports whether it fails to encode itself.
func (v jsonValue) isOpaque() bool {
	if !v.IsValid() || !v.entry().CanConvertToUnstructured() {
		return false
	}
	_, ok := v.whole()
	return !ok
}

func (v jsonValue) sameFields(other jsonValue) bool {
	count := 0
	for name, field := range v.fields() {
		theirs, found := other.get(name)
		if !found || !field.equals(theirs) {
			return false
		}
		count++
	}
	for range other.fields() {
		count--
	}
	return count == 0
}

func (v jsonValue) sameItems(other jsonValue) bool {
	if v.Len() != other.Len() {
		return false
	}
	for i := range v.Len() {
		if !v.at(i).equals(other.at(i)) {
			return false
		}
	}
	return true
}

// text is a scalar as one reads it: a key of a list item.
func (v jsonValue) text() string {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	}
	if whole, ok := v.whole(); ok {
		return value.ToString(whole)
	}
	return ""
}

// whole is the value as structured merge has it.
func (v jsonValue) whole() (value.Value, bool) {
	if entry := v.entry(); entry.CanConvertToUnstructured() {
		converted, err := entry.ToUnstructured(v.Value)
		return value.NewValueInterface(converted), err == nil
	}
	pointer := reflect.New(v.Type())
	pointer.Elem().Set(v.Value)
	made, err := value.NewValueReflect(pointer.Interface())
	return made, err == nil
}
