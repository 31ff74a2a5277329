// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// rateSearch looks by halves for the highest share of a rate that a client can follow.
type rateSearch struct {
	untried []float64
	// best is the highest rate that was followed, and wait the p99 of the milliseconds at it; 0 and 0: none was.
	best, wait float64
}

func newRateSearch() rateSearch {
	return rateSearch{untried: []float64{0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1}}
}

// next is the share to try; false: the highest has been found.
func (s *rateSearch) next() (share float64, found bool) {
	if len(s.untried) == 0 {
		return 0, false
	}
	return s.untried[len(s.untried)/2], true
}

// tried notes what became of the share that next returned: the rate that came about, the wait at it, and whether it was followed.
func (s *rateSearch) tried(rate, wait float64, followed bool) {
	middle := len(s.untried) / 2
	if followed {
		s.best, s.wait, s.untried = rate, wait, s.untried[middle+1:]
	} else {
		s.untried = s.untried[:middle]
	}
}
