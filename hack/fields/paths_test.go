// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"reflect"
	"strings"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// ours is the package whose types are shown field by field. Kubernetes' own are one line each.
var ours = reflect.TypeFor[v1.Application]().PkgPath()

// fieldsOf returns the paths of the fields of a type, such as spec.routes[].name, in the order of the API.
func fieldsOf(t reflect.Type, path string) []string {
	var all []string
	for field := range t.Fields() {
		name := nameOf(field)
		below, suffix := elementOf(field.Type)
		if name == "" {
			all = append(all, fieldsOf(below, path)...)
			continue
		}
		at := path + "." + name
		all = append(all, at)
		if below.Kind() == reflect.Struct && below.PkgPath() == ours {
			all = append(all, fieldsOf(below, at+suffix)...)
		}
	}
	return all
}

// nameOf is the JSON name of a field, or "" for an embedded one.
func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// elementOf is what pointers and lists are of, and how a path names their items.
func elementOf(t reflect.Type) (element reflect.Type, suffix string) {
	for {
		switch t.Kind() {
		case reflect.Pointer:
			t = t.Elem()
		case reflect.Slice:
			t, suffix = t.Elem(), suffix+"[]"
		default:
			return t, suffix
		}
	}
}

// at applies f to each occurrence of the field in an object in its JSON form; what f returns replaces
// the value, and nil removes it. It reports whether there was any.
func at(object any, path string, f func(value any) any) bool {
	step, rest, deeper := strings.Cut(path, ".")
	name, isList := strings.CutSuffix(step, "[]")
	fields, _ := object.(map[string]any)
	value, found := fields[name]
	switch {
	case !found:
		return false
	case !deeper:
		if value = f(value); value == nil {
			delete(fields, name)
		} else {
			fields[name] = value
		}
		return true
	case !isList:
		return at(value, rest, f)
	}
	items, _ := value.([]any)
	some := false
	for _, item := range items {
		some = at(item, rest, f) || some
	}
	return some
}

// longest returns the longest of the paths that the other one lies at or below, or "".
func longest(paths []string, other string) string {
	best := ""
	for _, path := range paths {
		below := other == path || strings.HasPrefix(other, path+".") || strings.HasPrefix(other, path+"[")
		if below && len(path) > len(best) {
			best = path
		}
	}
	return best
}
