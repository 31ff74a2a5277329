// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// maxFields limits the number of paths of an event.
const maxFields = 20

// withoutValues removes the values from paths. The path of a set's item contains its value, [="…"]. Items of other lists
// have their keys, which are names and numbers.
func withoutValues(paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	kept := make([]string, 0, min(len(paths), maxFields))
	for _, path := range paths[:min(len(paths), maxFields)] {
		if path = withoutValue(path); !slices.Contains(kept, path) {
			kept = append(kept, path)
		}
	}
	return kept
}

func withoutValue(path string) string {
	if before, _, found := strings.Cut(path, "[="); found {
		return before + "[=…]"
	}
	return path
}

// changedFields returns the paths by which two objects of a type differ, with their JSON names.
func changedFields(before, after any) []string {
	d := &difference{}
	d.compare("", reflect.ValueOf(before), reflect.ValueOf(after))
	return d.paths
}

type difference struct{ paths []string }

// ignoredFields are the fields that change with every write, or that no cache keeps.
var ignoredFields = map[string]bool{".metadata.resourceVersion": true, ".metadata.managedFields": true}

func (d *difference) add(path string) {
	if !ignoredFields[path] && len(d.paths) < maxFields {
		d.paths = append(d.paths, path)
	}
}

func (d *difference) compare(path string, before, after reflect.Value) {
	if len(d.paths) >= maxFields || before.IsValid() && after.IsValid() && before.Type() == after.Type() && reflect.DeepEqual(before.Interface(), after.Interface()) {
		return
	}
	if !before.IsValid() || !after.IsValid() || before.Type() != after.Type() {
		d.add(path)
		return
	}
	if _, leaf := reflect.TypeAssert[json.Marshaler](before); leaf && before.Kind() != reflect.Pointer {
		d.add(path)
		return
	}
	switch before.Kind() {
	case reflect.Pointer, reflect.Interface:
		if before.IsNil() || after.IsNil() {
			d.add(path)
			return
		}
		d.compare(path, before.Elem(), after.Elem())
	case reflect.Struct:
		d.compareStruct(path, before, after)
	case reflect.Map:
		d.compareMap(path, before, after)
	case reflect.Slice:
		if before.Len() != after.Len() || before.Type().Elem().Kind() == reflect.Uint8 {
			d.add(path)
			return
		}
		for i := range before.Len() {
			d.compare(fmt.Sprintf("%s[%d]", path, i), before.Index(i), after.Index(i))
		}
	default:
		d.add(path)
	}
}

func (d *difference) compareStruct(path string, before, after reflect.Value) {
	before, after = addressable(before), addressable(after)
	if _, leaf := reflect.TypeAssert[json.Marshaler](before.Addr()); leaf {
		d.add(path)
		return
	}
	for i := range before.NumField() {
		f := before.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			d.compare(path, before.Field(i), after.Field(i))
		case name == "" || name == "-":
			d.compare(path+"."+strings.ToLower(f.Name[:1])+f.Name[1:], before.Field(i), after.Field(i))
		default:
			d.compare(path+"."+name, before.Field(i), after.Field(i))
		}
	}
}

// addressable returns the value, or a copy of it that has an address.
func addressable(value reflect.Value) reflect.Value {
	if value.CanAddr() {
		return value
	}
	copied := reflect.New(value.Type()).Elem()
	copied.Set(value)
	return copied
}

func (d *difference) compareMap(path string, before, after reflect.Value) {
	names := map[string][2]reflect.Value{}
	for _, key := range before.MapKeys() {
		names[fmt.Sprint(key)] = [2]reflect.Value{before.MapIndex(key), {}}
	}
	for _, key := range after.MapKeys() {
		both := names[fmt.Sprint(key)]
		both[1] = after.MapIndex(key)
		names[fmt.Sprint(key)] = both
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		d.compare(path+"."+name, names[name][0], names[name][1])
	}
}
