// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// declared lists what the schema itself checks of a field: what is more than its type.
func declared(spec *schema.Structural, path string) string {
	s, parent, name := spec, spec, ""
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "spec."), ".") {
		field, isList := strings.CutSuffix(step, "[]")
		below, found := s.Properties[field]
		if !found {
			return "not in the schema"
		}
		parent, name, s = s, field, &below
		if isList {
			s = below.Items
		}
	}
	checks := limitsOf(s)
	if s.Items != nil {
		for _, check := range limitsOf(s.Items) {
			checks = append(checks, "items: "+check)
		}
	}
	if parent.ValueValidation != nil && slices.Contains(parent.ValueValidation.Required, name) {
		checks = append([]string{"required"}, checks...)
	}
	rules := len(s.XValidations)
	for _, rule := range parent.XValidations {
		if strings.Contains(rule.Rule, "self."+name+")") || strings.Contains(rule.Rule, "self."+name+" ") || strings.Contains(rule.Rule, "self."+name+".") {
			rules++
		}
	}
	if rules > 0 {
		checks = append(checks, "CEL")
	}
	return strings.Join(checks, ", ")
}

func limitsOf(s *schema.Structural) []string {
	v := s.ValueValidation
	if v == nil {
		return nil
	}
	var checks []string
	add := func(is bool, format string, args ...any) {
		if is {
			checks = append(checks, fmt.Sprintf(format, args...))
		}
	}
	add(len(v.Enum) > 0, "enum")
	add(v.Pattern != "", "pattern")
	add(v.MaxLength != nil, "≤ %d characters", value(v.MaxLength))
	add(v.Minimum != nil, "≥ %v", value(v.Minimum))
	add(v.Maximum != nil, "≤ %v", value(v.Maximum))
	add(v.MaxItems != nil, "≤ %d items", value(v.MaxItems))
	add(v.MaxProperties != nil, "≤ %d entries", value(v.MaxProperties))
	add(s.XListType != nil && *s.XListType != "atomic", "unique")
	return checks
}

func value[T any](pointer *T) T {
	if pointer == nil {
		return *new(T)
	}
	return *pointer
}
