// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// repaired returns the object with the defaults of the schema, or nil if the API server would refuse it. If a rule
// refuses it, such as one that permits only one of several sources, repaired removes another field of that place.
// Otherwise a union would keep the member of the seed for ever.
func (g *Generator) repaired(ctx context.Context, object map[string]any, e edit) map[string]any {
	errs := g.resource.Check(ctx, object)
	if len(errs) == 0 {
		return object
	}
	refused, _ := find(object, errs[0].Field).(map[string]any)
	if len(errs) > 1 || refused == nil || errs[0].Type != field.ErrorTypeInvalid {
		return nil
	}
	for _, other := range slices.Sorted(maps.Keys(refused)) {
		if slices.Contains(e.node.path, other) {
			continue
		}
		without := runtime.DeepCopyJSON(object)
		fields, _ := find(without, errs[0].Field).(map[string]any)
		delete(fields, other)
		if len(g.resource.Check(ctx, without)) == 0 {
			return without
		}
	}
	return nil
}

// find returns the value at the path of an error, such as spec.mounts[0], or nil.
func find(value any, path string) any {
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		switch at := value.(type) {
		case map[string]any:
			value = at[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(at) {
				return nil
			}
			value = at[i]
		default:
			return nil
		}
	}
	return value
}
