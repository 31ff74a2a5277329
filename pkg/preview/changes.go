// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Change is one field that differs. Before or After is nil where the field is missing.
type Change struct {
	Path   string `json:"path"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// Changes compares two objects, field by field. Items of a list are matched by their key, if they have one.
func Changes(before, after any) ([]Change, error) {
	var trees [2]any
	for i, value := range []any{before, after} {
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encode: %w", err)
		}
		if err := json.Unmarshal(encoded, &trees[i]); err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
	}
	return compare("", trees[0], trees[1]), nil
}

func compare(path string, before, after any) []Change {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	beforeMap, isMap := before.(map[string]any)
	afterMap, isStillMap := after.(map[string]any)
	if isMap && isStillMap {
		return compareMaps(path, beforeMap, afterMap)
	}
	beforeList, isList := before.([]any)
	afterList, isStillList := after.([]any)
	if key := listKey(beforeList, afterList); isList && isStillList && key != "" {
		return compareLists(path, key, beforeList, afterList)
	}
	return []Change{{Path: path, Before: before, After: after}}
}

func compareMaps(path string, before, after map[string]any) []Change {
	var found []Change
	keys := map[string]any{}
	maps.Copy(keys, before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		found = append(found, compare(path+Step(key), before[key], after[key])...)
	}
	return found
}

// Step is the part of a path for a key. A key with dots, as in annotations, is in brackets.
func Step(key string) string {
	if strings.ContainsAny(key, "./") {
		return "[" + key + "]"
	}
	return "." + key
}

// ByKey makes a change of each annotation and label: also of the first one, and of the last one that goes, with which the whole map comes
// and goes. So one annotation has one path.
func ByKey(found []Change) []Change {
	var divided []Change
	for _, change := range found {
		before, _ := change.Before.(map[string]any)
		after, _ := change.After.(map[string]any)
		if isMetadata := strings.HasSuffix(change.Path, ".metadata.annotations") || strings.HasSuffix(change.Path, ".metadata.labels"); isMetadata && len(before)+len(after) > 0 {
			divided = append(divided, compareMaps(change.Path, before, after)...)
			continue
		}
		divided = append(divided, change)
	}
	return divided
}

// listKey returns the field that identifies the items of both lists, or "".
func listKey(before, after []any) string {
	for _, key := range []string{"name", "mountPath", "containerPort", "port", "uid", "host", "topologyKey", "type"} {
		if unique(before, key) && unique(after, key) && len(before)+len(after) > 0 {
			return key
		}
	}
	return ""
}

func unique(items []any, key string) bool {
	seen := map[string]bool{}
	for _, item := range items {
		fields, _ := item.(map[string]any)
		value, found := fields[key]
		name := fmt.Sprint(value)
		if !found || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// compareLists matches items by their key. A different order is a change, too: containers and variables depend on it.
func compareLists(path, key string, before, after []any) []Change {
	var found []Change
	names, beforeItems := index(before, key)
	afterNames, afterItems := index(after, key)
	common := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(afterNames, name) })
	stillCommon := slices.DeleteFunc(slices.Clone(afterNames), func(name string) bool { return !slices.Contains(names, name) })
	if !slices.Equal(common, stillCommon) {
		found = append(found, Change{Path: path + " (order)", Before: strings.Join(common, ", "), After: strings.Join(stillCommon, ", ")})
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(names, afterNames)))) {
		found = append(found, compare(fmt.Sprintf("%s[%s]", path, name), beforeItems[name], afterItems[name])...)
	}
	return found
}

func index(items []any, key string) (names []string, byName map[string]any) {
	byName = map[string]any{}
	for _, item := range items {
		fields, _ := item.(map[string]any)
		name := fmt.Sprint(fields[key])
		names = append(names, name)
		byName[name] = item
	}
	return names, byName
}
