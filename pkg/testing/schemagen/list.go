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

// A full list without a limit gets this many items: at the top, and within other lists.
const (
	unlimited       = 512
	unlimitedWithin = 24
)

// list draws an array. The items of a full one are variations of its first.
func (d drawer) list(s *schema.Structural, depth int) any {
	items := []any{}
	for i := range d.count(s, depth) {
		if d.full && i > 0 {
			items = append(items, varied(s, items[0], i))
			continue
		}
		items = append(items, varied(s, d.value(s.Items, depth+1), i))
	}
	return items
}

// entries draws a map.
func (d drawer) entries(s *schema.Structural, depth int) any {
	entries := map[string]any{}
	below := s.AdditionalProperties.Structural
	var first any
	for i := range d.count(s, depth) {
		switch {
		case i == 0:
			first = d.value(below, depth+1)
			entries[oneOf(d.t, "key", words)] = first
		case d.full:
			entries[fmt.Sprintf("key-%d", i)] = runtime.DeepCopyJSONValue(first)
		default:
			entries[oneOf(d.t, "key", words)] = d.value(below, depth+1)
		}
	}
	return entries
}

func (d drawer) count(s *schema.Structural, depth int) int {
	least, most := minimum(s), maximum(s, depth)
	if d.full {
		return most
	}
	return oneOf(d.t, "count", []int{max(least, 1), least, min(most, max(least, 2))})
}

// maximum returns how many items or entries a list may have, or should get if nothing limits it.
func maximum(s *schema.Structural, depth int) int {
	if v := s.ValueValidation; v != nil {
		switch {
		case v.MaxItems != nil:
			return int(*v.MaxItems)
		case v.MaxProperties != nil:
			return int(*v.MaxProperties)
		}
	}
	if depth > 0 {
		return unlimitedWithin
	}
	return unlimited
}

// varied returns a copy of the item that differs from its other variations where it must: the items of a set, the
// keys of a list with keys, and the same in lists within.
func varied(list *schema.Structural, item any, i int) any {
	return variedWithin(list, runtime.DeepCopyJSONValue(item), i, 'x')
}

// variedWithin marks its changes, because the lists within an item have already been varied by the same numbers.
func variedWithin(list *schema.Structural, item any, i int, mark rune) any {
	if i == 0 || list.XListType == nil {
		return item
	}
	switch *list.XListType {
	case "set":
		return variation(list.Items, item, i, mark)
	case "map":
		fields, _ := item.(map[string]any)
		varyKeys(list, fields, i, mark)
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			below := list.Items.Properties[field]
			switch value := fields[field].(type) {
			case int64: // Ports must be different too.
				fields[field] = variation(&below, value, i, mark)
			case []any:
				for j := range value {
					value[j] = variedWithin(&below, value[j], i, mark+1)
				}
			}
		}
	}
	return item
}

// varyKeys varies those keys of an item that may be any text, and enumerations only if there is no other key.
func varyKeys(list *schema.Structural, fields map[string]any, i int, mark rune) {
	free := slices.ContainsFunc(list.XListMapKeys, func(key string) bool {
		below := list.Items.Properties[key]
		return !isEnumeration(&below)
	})
	for _, key := range list.XListMapKeys {
		below := list.Items.Properties[key]
		value := fields[key]
		if value == nil {
			value = below.Default.Object
		}
		if text, ok := value.(string); ok && (!free || !isEnumeration(&below)) {
			fields[key] = variation(&below, text, i, mark)
		}
	}
}

func isEnumeration(s *schema.Structural) bool {
	return s.ValueValidation != nil && len(s.ValueValidation.Enum) > 0
}
