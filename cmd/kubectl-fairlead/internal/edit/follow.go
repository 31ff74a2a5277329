// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/text"
)

// Follow takes out of the spec what the class gives anyway, so that the Application follows the class there. A revision does not say what of
// it came from the class of its time, so undo writes all of it. merge adds the defaults of the class, and what it makes of the spec stays the
// same. What the spec said before stays.
//
// own are the fields that the spec did not have before, and a class can give: no change of the class reaches them any more.
func Follow(application, before *v1.Application, merge func(*v1.Application) *v1.Application) (own []string, err error) {
	f := &following{application: application, merge: merge}
	if f.want, err = json.Marshal(merge(application).Spec); err != nil {
		return nil, err
	}
	if f.spec, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&application.Spec); err != nil {
		return nil, err
	}
	former, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&before.Spec)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(f.spec)) {
		if isDefault(name, f.spec[name]) {
			f.visit(f.spec, former, name, name)
		}
	}
	application.Spec, err = f.decoded()
	return f.own, err
}

// following is a spec from which fields are taken out, one after the other. Each is tried once or twice.
type following struct {
	application *v1.Application
	merge       func(*v1.Application) *v1.Application
	spec        map[string]any
	want        []byte
	own         []string
}

// visit takes the field out, or what it can of its parts, or gives it the former value.
func (f *following) visit(fields, former map[string]any, key, path string) {
	value := fields[key]
	was, had := former[key]
	if had && reflect.DeepEqual(value, was) {
		return
	}
	parts, isMap := value.(map[string]any)
	if had && !isMap && f.becomes(fields, key, was) || (!had || !isMap) && f.becomes(fields, key, nil) {
		return
	}
	if !isMap {
		if !had && !strings.HasSuffix(path, "["+v1.AnnotationRestartedAt+"]") {
			f.own = append(f.own, path)
		}
		return
	}
	formerParts, _ := was.(map[string]any)
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		f.visit(parts, formerParts, part, path+step(part))
	}
	if len(parts) == 0 {
		f.becomes(fields, key, nil)
	}
}

// becomes gives the field the value, or takes it out for nil. It undoes that if the class makes something else of the spec then.
func (f *following) becomes(fields map[string]any, key string, value any) bool {
	present := fields[key]
	if fields[key] = value; value == nil {
		delete(fields, key)
	}
	if trial, err := f.decoded(); err == nil {
		with := *f.application
		with.Spec = trial
		if got, err := json.Marshal(f.merge(&with).Spec); err == nil && bytes.Equal(got, f.want) {
			return true
		}
	}
	fields[key] = present
	return false
}

func (f *following) decoded() (spec v1.ApplicationSpec, err error) {
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(f.spec, &spec)
	return spec, err
}

// isDefault reports whether a class can give the field of a spec.
func isDefault(name string, value any) bool {
	encoded, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	return decoder.Decode(&v1.ApplicationDefaults{}) == nil
}

// step is a part of a path.
func step(key string) string {
	if strings.ContainsAny(key, "./") {
		return "[" + key + "]"
	}
	return "." + key
}

// OwnFrom says that the spec decides about the fields of Follow now; "" if there are none.
func OwnFrom(own []string) string {
	const readable = 4
	fields, them := text.Enumerate(own), "them"
	switch {
	case len(own) == 0:
		return ""
	case len(own) == 1:
		them = "it"
	case len(own) > readable:
		fields = "fields of " + text.Enumerate(names(own))
	}
	return "; the spec itself says " + fields + " from now on, so no change of the class reaches " + them
}

// names are the fields of the spec that the paths begin with, each once.
func names(paths []string) (names []string) {
	for _, path := range paths {
		end := strings.IndexAny(path+".", ".[")
		names = append(names, path[:end])
	}
	return slices.Compact(names)
}
