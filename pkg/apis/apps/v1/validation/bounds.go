// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The list is part of a condition's message, a log line and an admission response.
const (
	maxErrors = 64
	maxValue  = 128
	maxPath   = 256
	maxDetail = 1024
)

// bounded limits the length of the list and of each error, whatever a user wrote.
func bounded(errs field.ErrorList) field.ErrorList {
	if len(errs) == 0 {
		return nil
	}
	if more := len(errs) - maxErrors; more > 0 {
		errs = append(errs[:maxErrors:maxErrors], field.Invalid(field.NewPath("spec"), field.OmitValueType{},
			fmt.Sprintf("and %d more errors", more)))
	}
	for _, err := range errs {
		err.Field = truncate(err.Field, maxPath)
		err.Detail = truncate(withoutPattern(err.Detail), maxDetail)
		err.BadValue = boundedValue(err.BadValue)
	}
	return errs
}

// withoutPattern removes the regular expression from a message of Kubernetes' own validation. The words and the examples
// beside it say the same, and few users read regular expressions.
func withoutPattern(detail string) string {
	words, pattern, found := strings.Cut(detail, ", regex used for validation is '")
	if !found {
		return detail
	}
	_, rest, _ := strings.Cut(pattern, "')")
	return strings.ReplaceAll(words, "',  or '", "' or '") + ")" + rest
}

// boundedValue truncates strings, of whatever named type. Rules pass only numbers and strings.
func boundedValue(value any) any {
	if v := reflect.ValueOf(value); v.Kind() == reflect.String {
		return truncate(v.String(), maxValue)
	}
	return value
}

// truncate cuts between characters and marks the cut.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const ellipsis = "…"
	cut := limit - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + ellipsis
}
