// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen

import (
	"maps"
	"math"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
)

// drawer draws values that a schema allows without regard to its rules, which are checked later.
type drawer struct {
	t *rapid.T
	// full makes lists as long as they may be.
	full bool
}

// value draws a value. The deeper an optional field is, the rarer it is.
func (d drawer) value(s *schema.Structural, depth int) any {
	switch {
	case s.XIntOrString:
		if rapid.Bool().Draw(d.t, "is text") {
			return d.text(s)
		}
		return d.integer(s)
	case s.Type == "array":
		return d.list(s, depth)
	case isMap(s):
		return d.entries(s, depth)
	case s.Type == "object" || len(s.Properties) > 0:
		return d.object(s, depth)
	case s.Type == "integer":
		return d.integer(s)
	case s.Type == "number":
		return oneOf(d.t, "number", []any{0.0, 0.5, -1.5, math.MaxFloat64})
	case s.Type == "boolean":
		return rapid.Bool().Draw(d.t, "boolean")
	default:
		return d.text(s)
	}
}

func (d drawer) object(s *schema.Structural, depth int) any {
	fields := map[string]any{}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		below := s.Properties[field]
		if isGiven(s, field) || d.has(field, depth) {
			fields[field] = d.value(&below, depth+1)
		}
	}
	return fields
}

// has draws whether an optional field is present. At the top of the value, every second one is.
func (d drawer) has(field string, depth int) bool {
	for range depth + 1 {
		if !rapid.Bool().Draw(d.t, "has "+field) {
			return false
		}
	}
	return true
}

// integer draws numbers at the limits of the schema, and of the Go types into which they are decoded, which the
// schema need not know.
func (d drawer) integer(s *schema.Structural) any {
	numbers := []int64{1, 0, -1, 2, 79, 80, 101, 600, 8080, 65535, 65536, 86400, 3_000_000_000, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}
	if v := s.ValueValidation; v != nil {
		if v.Minimum != nil {
			numbers = append(numbers, int64(*v.Minimum), int64(*v.Minimum)+1)
		}
		if v.Maximum != nil {
			numbers = append(numbers, int64(*v.Maximum)-1, int64(*v.Maximum))
		}
		numbers = slices.DeleteFunc(numbers, func(n int64) bool {
			return v.Minimum != nil && n < int64(*v.Minimum) || v.Maximum != nil && n > int64(*v.Maximum)
		})
	}
	return oneOf(d.t, "number", numbers)
}

// simplest returns the smallest valid value, for the path above an edit.
func simplest(s *schema.Structural) any {
	if isEnumeration(s) {
		return s.ValueValidation.Enum[0].Object
	}
	switch {
	case s.Default.Object != nil:
		return runtime.DeepCopyJSONValue(s.Default.Object)
	case s.XIntOrString || s.Type == "string":
		return fitting(s)[0]
	case s.Type == "array":
		items := []any{}
		for i := range minimum(s) {
			items = append(items, varied(s, simplest(s.Items), i))
		}
		return items
	case s.Type == "integer":
		if v := s.ValueValidation; v != nil && v.Minimum != nil {
			return int64(*v.Minimum)
		}
		return int64(1)
	case s.Type == "boolean":
		return false
	}
	fields := map[string]any{}
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		below := s.Properties[field]
		if isGiven(s, field) {
			fields[field] = simplest(&below)
		}
	}
	return fields
}

func minimum(s *schema.Structural) int {
	if v := s.ValueValidation; v != nil && v.MinItems != nil {
		return int(*v.MinItems)
	}
	return 0
}
