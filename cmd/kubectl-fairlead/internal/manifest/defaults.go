// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
)

// setDefaults changes the object as the mutating webhook does, which an API server asks before it checks the schema. What
// cannot be decoded stays as it is: the schema has a better message.
func setDefaults(object map[string]any) error {
	converter := runtime.DefaultUnstructuredConverter
	application := &v1.Application{}
	if err := converter.FromUnstructured(object, application); err != nil {
		return nil //nolint:nilerr // See above.
	}
	before, err := converter.ToUnstructured(application)
	if err != nil {
		return err
	}
	v1.SetDefaults(application)
	after, err := converter.ToUnstructured(application)
	if err != nil {
		return err
	}
	overwrite(object, before, after)
	return nil
}

// removeEmptyClass makes room for the default class, as the mutating webhook does. Without such a class, the API server refuses the empty
// name.
func (c *Checker) removeEmptyClass(object map[string]any) {
	name, found, _ := unstructured.NestedString(object, "spec", "className")
	if !found || name != "" {
		return
	}
	application := &v1.Application{}
	application.Namespace, _, _ = unstructured.NestedString(object, "metadata", "namespace")
	rules := c.rules(application)
	if chosen, _ := class.Default(rules.Classes, rules.Namespace); chosen != nil {
		unstructured.RemoveNestedField(object, "spec", "className")
	}
}

// overwrite takes over what differs between before and after. These have the form of the Go types, so the object may have
// fields that they lack. Defaults add no field.
func overwrite(object, before, after any) any {
	switch after := after.(type) {
	case map[string]any:
		given, _ := object.(map[string]any)
		before, _ := before.(map[string]any)
		for key := range given {
			if value, known := after[key]; known {
				given[key] = overwrite(given[key], before[key], value)
			}
		}
		return object
	case []any:
		given, _ := object.([]any)
		before, _ := before.([]any)
		for i := range min(len(given), len(before), len(after)) {
			given[i] = overwrite(given[i], before[i], after[i])
		}
		return object
	}
	if before == after {
		return object
	}
	return after
}
