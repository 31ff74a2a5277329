// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import "slices"

// shrink looks for the shortest program that still fails, by leaving steps out: first half of them, at last one by one. A
// failure may need luck, so a candidate counts as harmless only after it has passed tries times. Every run takes seconds, so
// this needs fewer of them than the shrinking of a property-based library, which also changes arguments.
func shrink(p program, tries int, fails func(program) bool) program {
	failsOnce := func(candidate program) bool {
		for range tries {
			if fails(candidate) {
				return true
			}
		}
		return false
	}
	for size := len(p) / 2; size > 0; size /= 2 {
		for from := 0; from < len(p); {
			candidate := slices.Concat(p[:from], p[min(from+size, len(p)):])
			if len(candidate) > 0 && failsOnce(candidate) {
				p = candidate
				continue
			}
			from += size
		}
	}
	return p
}
