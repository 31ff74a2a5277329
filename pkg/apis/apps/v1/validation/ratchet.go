// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// SplitExcess splits the errors of an updated Application into those that the update adds and those that the stored
// one has too. Only errors about limits of the class can be kept: the platform may have tightened the class since, and
// the user must still be able to edit everything else. All other errors count as added.
//
// Each stored error excuses one updated error, so a second container from a forbidden registry is added.
func SplitExcess(updated, stored field.ErrorList) (added, kept field.ErrorList) {
	stored = slices.Clone(stored)
	for _, err := range updated {
		i := -1
		if err.Origin == originClassLimit {
			i = slices.IndexFunc(stored, func(earlier *field.Error) bool { return noWorse(err, earlier) })
		}
		if i < 0 {
			added = append(added, err)
			continue
		}
		kept, stored = append(kept, err), slices.Delete(stored, i, i+1)
	}
	return added, kept
}

// noWorse reports whether the updated error is the stored one, or the same with a smaller number. The place in a list
// does not matter, because removing an item moves the others.
func noWorse(updated, stored *field.Error) bool {
	if updated.Type != stored.Type || withoutIndexes(updated.Field) != withoutIndexes(stored.Field) ||
		strings.TrimSuffix(updated.Detail, startsOne) != strings.TrimSuffix(stored.Detail, startsOne) {
		return false
	}
	number, isNumber := updated.BadValue.(int32)
	earlier, wasNumber := stored.BadValue.(int32)
	if isNumber && wasNumber {
		return number <= earlier
	}
	return reflect.DeepEqual(updated.BadValue, stored.BadValue)
}

var index = regexp.MustCompile(`\[\d+\]`)

func withoutIndexes(path string) string { return index.ReplaceAllString(path, "[]") }
