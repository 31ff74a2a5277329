// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nearest finds the name that a user meant.
package nearest

import (
	"slices"
	"strings"
)

// To returns the known name that differs least from the one that was typed, and the first of several such by the alphabet. It is
// empty if none is near: short names may differ in one letter, long ones in three.
func To(typed string, known []string) string {
	best, least := "", 1+min(len(typed)/3, 3)
	for _, name := range slices.Sorted(slices.Values(known)) {
		if edits := distance(strings.ToLower(typed), strings.ToLower(name)); edits < least {
			best, least = name, edits
		}
	}
	return best
}

// distance is how many letters to insert, remove, change, or swap with the next, to make b of a.
func distance(a, b string) int {
	// rows[i][j] is the distance of the first i letters of a from the first j letters of b.
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			changed := 1
			if a[i-1] == b[j-1] {
				changed = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+changed)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
