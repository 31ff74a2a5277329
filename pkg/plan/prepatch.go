// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Server-side apply identifies the items of an associative list by their keys. If a user changes the port of a Service from
// 80 to 81, it sees that the user removed our item and added another. An apply would put ours beside that one, which is
// wrong, and refused if both have the same name. So if a list lacks a rendered item and has one that was not rendered, a
// pre-patch replaces the latter with the former.
//
// This does not apply to lists whose key is a name: a container or volume that another client adds is theirs, and stays.

// prePatch returns the strategic merge patch that replaces such items, or nil if there are none.
func prePatch(desired *unstructured.Unstructured, comparison *typed.Comparison) map[string]any {
	missing, strays := items(comparison.Removed), items(comparison.Added)
	var patch map[string]any
	for list, theirs := range strays {
		if len(missing[list]) == 0 {
			continue
		}
		if patch == nil {
			patch = map[string]any{}
		}
		for _, path := range theirs {
			item := keyFields(path)
			item["$patch"] = "delete"
			insert(patch, path, item)
		}
		// All rendered items, not only the missing ones: a change of another one, such as its name, may exclude a
		// missing one.
		rendered, _ := find(desired.Object, theirs[0][:len(theirs[0])-1]).([]any)
		for _, item := range rendered {
			if fields, ok := item.(map[string]any); ok {
				insert(patch, theirs[0], fields)
			}
		}
	}
	return patch
}

// items returns the paths of the whole list items in the set, by the path of their list. Items
// of lists whose key is an identity are left out.
func items(set *fieldpath.Set) map[string][]fieldpath.Path {
	byList := map[string][]fieldpath.Path{}
	for path := range set.All() {
		last := len(path) - 1
		if last < 1 || path[last].Key == nil || isIdentity(*path[last].Key) {
			continue
		}
		list := path[:last].String()
		byList[list] = append(byList[list], path.Copy())
	}
	return byList
}

// isIdentity reports whether the key of an item is a name, rather than a setting.
func isIdentity(key value.FieldList) bool {
	return len(key) == 1 && (key[0].Name == "name" || key[0].Name == "uid")
}

// insert adds an item to the patch, in the list at its path.
func insert(patch map[string]any, path fieldpath.Path, item map[string]any) {
	last := len(path) - 2 // The name of the list; the key is behind it.
	at, name := reach(patch, path[:last]), *path[last].FieldName
	list, _ := at[name].([]any)
	at[name] = append(list, item)
}

// reach returns the object at the path in the patch. It creates the maps and list items of the path, the latter with nothing
// but their keys.
func reach(patch map[string]any, path fieldpath.Path) map[string]any {
	at := patch
	for i := 0; i < len(path); i++ {
		name := *path[i].FieldName
		if i+1 == len(path) || path[i+1].Key == nil {
			next, ok := at[name].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[name] = next
			}
			at = next
			continue
		}
		list, _ := at[name].([]any)
		next := findItem(list, *path[i+1].Key)
		if next == nil {
			next = keyFields(path[:i+2])
			at[name] = append(list, next)
		}
		at = next
		i++ // The key belongs to the name before it.
	}
	return at
}

// find returns the value at the path, or nil.
func find(object any, path fieldpath.Path) any {
	for _, element := range path {
		switch {
		case element.FieldName != nil:
			fields, _ := object.(map[string]any)
			object = fields[*element.FieldName]
		case element.Key != nil:
			list, _ := object.([]any)
			object = findItem(list, *element.Key)
		default:
			return nil
		}
	}
	return object
}

// findItem returns the item of the list that has the key, or nil.
func findItem(list []any, key value.FieldList) map[string]any {
	for _, candidate := range list {
		item, ok := candidate.(map[string]any)
		if !ok {
			continue
		}
		matches := true
		for _, field := range key {
			matches = matches && value.Equals(value.NewValueInterface(item[field.Name]), field.Value)
		}
		if matches {
			return item
		}
	}
	return nil
}

// keyFields are the fields that the last element of the path, a key, consists of.
func keyFields(path fieldpath.Path) map[string]any {
	fields := map[string]any{}
	for _, field := range *path[len(path)-1].Key {
		fields[field.Name] = field.Value.Unstructured()
	}
	return fields
}
