// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

// Whatever one can follow up to some share, the search finds the highest one of them, in four steps at most.
func TestRateSearch(t *testing.T) {
	shares := newRateSearch().untried
	for n := range len(shares) + 1 {
		s, steps, want := newRateSearch(), 0, 0.0
		if n > 0 {
			want = shares[n-1]
		}
		for {
			share, found := s.next()
			if !found {
				break
			}
			s.tried(share, 1000*share, share <= want)
			steps++
		}
		if s.best != want || s.wait != 1000*want || steps > 4 {
			t.Errorf("it found %v with %v ms in %d steps, want %v", s.best, s.wait, steps, want)
		}
	}
}
