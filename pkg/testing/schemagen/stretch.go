// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// hundred numbers the lists of an object.
var hundred = slices.Collect(func(yield func(int) bool) {
	for i := range 100 {
		if !yield(i) {
			return
		}
	}
})

// stretched returns the value with one of its lists as long as it may be. The items of a seed have a meaning, so this
// creates objects that are large and still valid.
func stretched(value any, s *schema.Structural, e edit) any {
	lists := 0
	visitLists(value, s, 0, func(list any, _ *schema.Structural, _ int) any { lists++; return list })
	if lists == 0 {
		return value
	}
	at := 0
	return visitLists(value, s, 0, func(list any, of *schema.Structural, depth int) any {
		chosen := at == e.pick%lists
		at++
		if !chosen {
			return list
		}
		if e.deep {
			list = visitLists(list, of, depth, filled)
			return list
		}
		return filled(list, of, depth)
	})
}

// visitLists replaces each nonempty list of the value, inner lists first.
func visitLists(value any, s *schema.Structural, depth int, replace func(list any, s *schema.Structural, depth int) any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = visitLists(value[i], s.Items, depth+1, replace)
		}
		if len(value) > 0 {
			return replace(value, s, depth)
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(value)) {
			if below, found := s.Properties[field]; found {
				value[field] = visitLists(value[field], &below, depth, replace)
			} else if isMap(s) {
				value[field] = visitLists(value[field], s.AdditionalProperties.Structural, depth+1, replace)
			}
		}
		if isMap(s) && len(value) > 0 {
			return replace(value, s, depth)
		}
	}
	return value
}

// filled returns the list with variations of its items, as many as it may have.
func filled(list any, s *schema.Structural, depth int) any {
	most := maximum(s, depth)
	switch list := list.(type) {
	case []any:
		given := list
		for i := len(given); i < most; i++ {
			list = append(list, varied(s, given[i%len(given)], i))
		}
		return list
	case map[string]any:
		first := list[slices.Min(slices.Collect(maps.Keys(list)))]
		for i := len(list); i < most; i++ {
			list[fmt.Sprintf("key-%d", i)] = runtime.DeepCopyJSONValue(first)
		}
		return list
	default:
		return list
	}
}
