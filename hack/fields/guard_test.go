// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podsecurity "k8s.io/pod-security-admission/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

// bad are values that most fields should refuse. Those of another type are not even decoded.
var bad = []any{
	"", " ", "\x00", "é", "/../x", "//", "*", "%", "-", "UPPER_case", "no such", "a b", "127.0.0.1/33", strings.Repeat("a", 5000),
	-1.0, 0.0, 70000.0, 2147483647.0, true, false, "101%", "-1Gi", "1h1s1d",
	map[string]any{}, map[string]any{"a b": "é\x00"}, map[string]any{"a b/c d": "x", "": ""}, map[string]any{v1.LabelApplication: "other"}, map[string]any{"cpu": "-1", "x": "1"},
	map[string]any{"nginx.ingress.kubernetes.io/configuration-snippet": "x"},
	[]any{}, []any{map[string]any{}}, []any{"\x00"}, []any{"no such", "no such"},
}

// refused reports whether the validation that webhooks and sync share refuses a bad value of the field.
// The error may be about another field, with which the value does not go together.
func refused(examples []map[string]any, path string, validate func(object map[string]any) field.ErrorList) bool {
	for _, example := range examples {
		before := texts(validate(example))
		for _, replace := range replacements() {
			with := changed(example, path, replace)
			if with == nil {
				break
			}
			for _, text := range texts(validate(with)) {
				if !slices.Contains(before, text) {
					return true
				}
			}
		}
	}
	return false
}

func replacements() []func(any) any {
	all := []func(any) any{
		// The same item twice, and far too many.
		repeated(1), repeated(600),
		// What is within a type of Kubernetes' own.
		func(value any) any { return corrupted(runtime.DeepCopyJSONValue(value), "\x00", -1.0) },
		func(value any) any { return corrupted(runtime.DeepCopyJSONValue(value), "no such", 70000.0) },
		func(value any) any { return corrupted(runtime.DeepCopyJSONValue(value), "-1", -1.0) },
	}
	for _, value := range bad {
		all = append(all, func(any) any { return runtime.DeepCopyJSONValue(value) })
	}
	return all
}

func repeated(times int) func(any) any {
	return func(value any) any {
		items, ok := value.([]any)
		if !ok || len(items) == 0 {
			return value
		}
		items = slices.Clone(items)
		for range times {
			items = append(items, items[0])
		}
		return items
	}
}

// corrupted replaces the texts and numbers within a value.
func corrupted(value any, text string, number float64) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = corrupted(value[key], text, number)
		}
		return value
	case []any:
		for i := range value {
			value[i] = corrupted(value[i], text, number)
		}
		return value
	case string:
		return text
	case float64:
		return number
	default:
		return value
	}
}

func texts(errs field.ErrorList) []string {
	all := make([]string, 0, len(errs))
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

func validateApplication(object map[string]any) field.ErrorList {
	app := application(object)
	if app == nil {
		return nil
	}
	return validation.ValidateApplication(app, validation.Options{})
}

func validateClass(object map[string]any) field.ErrorList {
	class := read[v1.ApplicationClass](object)
	if class == nil {
		return nil
	}
	return validation.ValidateApplicationClass(class)
}

// beyondFields are the limits of a class that are about no field of an Application, with the reason.
var beyondFields = map[string]string{}

// limited returns, by field, the limits of a class that guard it: each limit alone is as strict as it
// can be, and the examples show which fields are refused because of it.
func limited(t *testing.T, examples []map[string]any, paths []string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for limit := range reflect.TypeFor[v1.ApplicationLimits]().Fields() {
		name, guards := nameOf(limit), false
		for _, class := range strictest(limit) {
			for _, example := range examples {
				app := application(example)
				anyway := errorsOf(app, named(lax()))
				for _, err := range errorsOf(app, class) {
					path := longest(paths, general(err.Field))
					if path == "" || slices.ContainsFunc(anyway, func(other *field.Error) bool { return other.Error() == err.Error() }) {
						continue
					}
					if guards = true; !slices.Contains(found[path], name) {
						found[path] = append(found[path], name)
					}
				}
			}
		}
		if !guards && beyondFields[name] == "" {
			t.Errorf("limit %s: it refuses no example: add one that it should, or a reason to beyondFields", name)
		}
	}
	return found
}

func errorsOf(app *v1.Application, class *v1.ApplicationClass) field.ErrorList {
	return validation.ValidateApplication(app, validation.Options{Class: class, SecurityProfile: podsecurity.LevelPrivileged})
}

// lax are limits that allow what the examples have: without them, a class allows no foreign ServiceAccount, and Gateways only.
func lax() *v1.ApplicationLimits {
	return &v1.ApplicationLimits{AllowForeignServiceAccounts: new(true), AllowedParentKinds: []string{"Service"}}
}

func named(limits *v1.ApplicationLimits) *v1.ApplicationClass {
	class := &v1.ApplicationClass{Spec: v1.ApplicationClassSpec{Limits: limits}}
	class.Name = "strict"
	return class
}

// strictest are classes with one limit that allows as little as it can. Of sharedHostnames, a pattern does: it takes liberties away.
func strictest(limit reflect.StructField) []*v1.ApplicationClass {
	var classes []*v1.ApplicationClass
	for _, value := range []string{`[]`, `["*.example.com"]`, `0`, `true`, `false`, `"Restricted"`, `{}`} {
		limits := lax()
		if json.Unmarshal([]byte(`{"`+nameOf(limit)+`":`+value+`}`), limits) == nil {
			classes = append(classes, named(limits))
		}
	}
	return classes
}

var index = regexp.MustCompile(`\[[^\]]*\]`)

// general is the path of an error without the numbers of items.
func general(path string) string { return index.ReplaceAllString(path, "[]") }
