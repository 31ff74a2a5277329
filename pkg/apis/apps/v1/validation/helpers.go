// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// names remembers which field has a name, to find duplicates. The field may be nil.
type names map[string]*field.Path

// add returns an error that points to the field that has the name already: it may be far away.
func (n names) add(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return nil // another rule says that it is required
	}
	first, seen := n[name]
	if !seen {
		n[name] = path
		return nil
	}
	duplicate := field.Duplicate(path, name)
	if first != nil {
		duplicate.Detail = first.String() + " has it too"
	}
	return field.ErrorList{duplicate}
}

// sortedKeys returns the keys in order, so that errors do not depend on the order of a map.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// invalid returns an error for each message of one of Kubernetes' validation functions.
func invalid(path *field.Path, value any, messages []string) field.ErrorList {
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(path, value, message))
	}
	return errs
}

// subdomain is the rule for the names of most objects.
func subdomain(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "must be the name of an object")}
	}
	return invalid(path, name, validation.IsDNS1123Subdomain(name))
}

// label is the rule for the names of containers and namespaces.
func label(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "must be a DNS label")}
	}
	return invalid(path, name, validation.IsDNS1123Label(name))
}

// enum accepts the empty value, which has a default.
func enum[T ~string](path *field.Path, value T, allowed ...T) field.ErrorList {
	if value == "" || slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

// oneOf is enum for values without a default.
func oneOf[T ~string](path *field.Path, value T, allowed ...T) field.ErrorList {
	if slices.Contains(allowed, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, allowed)}
}

// between accepts nil, which has a default.
func between[T int32 | int64](path *field.Path, value *T, low, high T) field.ErrorList {
	if value == nil || (*value >= low && *value <= high) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be between %d and %d", low, high))}
}

// notNegative accepts nil, which has a default.
func notNegative[T int32 | int64](path *field.Path, value *T) field.ErrorList {
	if value == nil || *value >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, "must be greater than or equal to 0")}
}

// tooMany repeats the schema's limit of a list.
func tooMany(path *field.Path, n, limit int) field.ErrorList {
	if n <= limit {
		return nil
	}
	return field.ErrorList{field.TooMany(path, n, limit)}
}

// exactlyOne requires exactly one of several alternatives.
func exactlyOne(path *field.Path, alternatives []string, set ...bool) field.ErrorList {
	var chosen []string
	for i, isSet := range set {
		if isSet {
			chosen = append(chosen, alternatives[i])
		}
	}
	switch len(chosen) {
	case 0:
		if len(alternatives) == 1 {
			return field.ErrorList{field.Required(path.Child(alternatives[0]), "must be set")}
		}
		return field.ErrorList{field.Required(path, "exactly one of "+strings.Join(alternatives, ", ")+" must be set")}
	case 1:
		return nil
	default:
		return field.ErrorList{field.Forbidden(path, "exactly one of "+strings.Join(alternatives, ", ")+" may be set: keep one of "+strings.Join(chosen, ", "))}
	}
}

// validateWords checks a command and its arguments. A NUL would end them.
func validateWords(path *field.Path, words []string) field.ErrorList {
	for i, word := range words {
		if strings.Contains(word, "\x00") {
			return field.ErrorList{field.Invalid(path.Index(i), word, "must not contain a NUL character")}
		}
	}
	return nil
}

// hasControl reports whether a string has control characters, which no name, path or header value may have.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
