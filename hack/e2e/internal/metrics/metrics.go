// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics reads histograms from a Prometheus endpoint.
package metrics

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Histogram is how many observations were at most as large as each bound. The last bound is +Inf.
type Histogram map[float64]float64

// Read adds up the buckets of a histogram over all label values, of the series whose labels contain selector.
func Read(exposition io.Reader, name, selector string) (Histogram, error) {
	const groups = 4 // of the labels before le, the bound, the labels after it, the count
	bucket := regexp.MustCompile(`^` + regexp.QuoteMeta(name) + `_bucket\{(.*)le="([^"]+)"(.*)\} (\S+)`)
	h := Histogram{}
	scanner := bufio.NewScanner(exposition)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		match := bucket.FindStringSubmatch(scanner.Text())
		if len(match) != 1+groups || !strings.Contains(match[1]+match[3], selector) {
			continue
		}
		bound, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			return nil, fmt.Errorf("parse %q: %w", scanner.Text(), err)
		}
		count, err := strconv.ParseFloat(match[4], 64)
		if err != nil {
			return nil, fmt.Errorf("parse %q: %w", scanner.Text(), err)
		}
		h[bound] += count
	}
	return h, scanner.Err()
}

// Add adds the observations of another histogram with the same bounds, weighted: -1 takes them away.
func (h Histogram) Add(other Histogram, weight float64) {
	for bound, count := range other {
		h[bound] += weight * count
	}
}

// Count is how many observations there are.
func (h Histogram) Count() float64 { return h[math.Inf(1)] }

// Quantile estimates the value that a share q of the observations does not exceed, as Prometheus' histogram_quantile
// does: they are taken to be spread evenly within their bucket. Beyond the last finite bound, it is that bound.
func (h Histogram) Quantile(q float64) float64 {
	bounds := make([]float64, 0, len(h))
	for bound := range h {
		bounds = append(bounds, bound)
	}
	slices.Sort(bounds)
	rank := q * h.Count()
	lower, below := 0.0, 0.0
	for _, bound := range bounds {
		if h[bound] >= rank {
			if math.IsInf(bound, 1) {
				return lower
			}
			if h[bound] == below {
				return bound
			}
			return lower + (bound-lower)*(rank-below)/(h[bound]-below)
		}
		lower, below = bound, h[bound]
	}
	return lower
}
