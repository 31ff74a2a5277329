// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report is what becomes of measurements: medians, ratios, verdicts, and the table. It is pure.
package report

import (
	"math"
	"slices"
)

// Sample is one thing, measured repeatedly.
type Sample []float64

// Median is the middle one, or the mean of the two in the middle. Of no measurement it is NaN.
func (s Sample) Median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Quantile is the smallest value that a share q of the measurements does not exceed (nearest rank). Of no measurement it
// is NaN.
func (s Sample) Quantile(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	rank := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

// Over divides each measurement by the one of the same repeat: what slowed the machine down in one repeat slowed both.
// With different numbers of measurements, the others' median is what is divided by. A floor of 0 gives no ratio.
func (s Sample) Over(floor Sample) Sample {
	if len(floor) == 0 {
		return nil
	}
	ratios := make(Sample, 0, len(s))
	for i, value := range s {
		divisor := floor.Median()
		if len(floor) == len(s) {
			divisor = floor[i]
		}
		if divisor != 0 {
			ratios = append(ratios, value/divisor)
		}
	}
	return ratios
}
