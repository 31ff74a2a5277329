// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// operation is one of a JSON patch, RFC 6902.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// diff returns the operations that do to raw what was done from before to after. All three are JSON
// values; before is raw as Go's types understood it, so raw may have more, such as fields that this
// version does not know, and less, such as fields that Go writes although they are empty. What raw has
// and before has not is left alone.
//
// It is written here because the libraries compute the shortest way from one list to another, by
// moving items; defaults change items where they are, and a list is compared item by item.
func diff(path string, raw, before, after any) []operation {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	switch after := after.(type) {
	case map[string]any:
		raw, isRaw := raw.(map[string]any)
		before, isBefore := before.(map[string]any)
		if isRaw && isBefore {
			return diffObjects(path, raw, before, after)
		}
	case []any:
		raw, isRaw := raw.([]any)
		before, isBefore := before.([]any)
		if isRaw && isBefore && len(raw) == len(after) && len(before) == len(after) {
			var operations []operation
			for i := range after {
				operations = append(operations, diff(path+"/"+strconv.Itoa(i), raw[i], before[i], after[i])...)
			}
			return operations
		}
	}
	return []operation{{Op: "replace", Path: path, Value: after}}
}

func diffObjects(path string, raw, before, after map[string]any) []operation {
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	var operations []operation
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		path := path + "/" + pointerEscape.Replace(key)
		given, isGiven := raw[key]
		old, had := before[key]
		value, has := after[key]
		switch {
		case !has && isGiven:
			operations = append(operations, operation{Op: "remove", Path: path})
		case !has || reflect.DeepEqual(old, value) && had:
		case !isGiven || !had:
			operations = append(operations, operation{Op: "add", Path: path, Value: value})
		default:
			operations = append(operations, diff(path, given, old, value)...)
		}
	}
	return operations
}

// pointerEscape is the escaping of JSON pointers, RFC 6901.
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")
