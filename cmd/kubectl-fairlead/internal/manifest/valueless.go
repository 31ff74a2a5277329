// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// valueless warns of each field of the spec that has no value, such as "env:" with nothing behind it. An API server leaves such a field out,
// but not in server-side apply, where it checks the null by the schema. It takes a null for a default, and in the metadata and the status.
func (d *Document) valueless(of *schema.Structural) []Problem {
	var problems []Problem
	var visit func(path *field.Path, of *schema.Structural, value any)
	visit = func(path *field.Path, of *schema.Structural, value any) {
		switch value := value.(type) {
		case nil:
			if !of.Nullable && of.Default.Object == nil {
				problems = append(problems, d.warning(path.String(), "kubectl apply --server-side refuses a field without a value: remove the field, or write "+valueFor(of)))
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(value)) {
				if below, known := of.Properties[key]; known {
					visit(path.Child(key), &below, value[key])
				} else if of.AdditionalProperties != nil && of.AdditionalProperties.Structural != nil {
					visit(path.Key(key), of.AdditionalProperties.Structural, value[key])
				}
			}
		case []any:
			for i, item := range value {
				visit(path.Index(i), of.Items, item)
			}
		}
	}
	spec := of.Properties["spec"]
	if value, given := d.object["spec"]; given {
		visit(field.NewPath("spec"), &spec, value)
	}
	return problems
}

// valueFor says what the value of a field can be. An empty one is named where the schema allows it.
func valueFor(of *schema.Structural) string {
	limits := of.ValueValidation
	if limits == nil {
		limits = &schema.ValueValidation{}
	}
	isFree := len(limits.Required) == 0 && limits.MinProperties == nil && limits.MinItems == nil && len(of.XValidations) == 0
	switch {
	case of.Type == "array" && isFree:
		return "a list or []"
	case of.Type == "array":
		return "a list"
	case of.Type == "object" && of.AdditionalProperties != nil:
		return "a map or {}"
	case of.Type == "object" && isFree:
		return "its fields or {}"
	case of.Type == "object":
		return "its fields"
	default:
		return "its value"
	}
}
