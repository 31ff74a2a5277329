// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics reads what a Prometheus endpoint exposes.
package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Families are metrics by name.
type Families map[string]*dto.MetricFamily

// Parse reads metrics in the text format.
func Parse(exposition []byte) (Families, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(exposition))
	if err != nil {
		return nil, fmt.Errorf("parse metrics: %w", err)
	}
	return families, nil
}

// Histogram is how many observations were at most as large as each bound. The last bound is +Inf.
type Histogram map[float64]float64

// Histogram adds up a histogram over all series that have a label whose value contains label.
func (f Families) Histogram(name, label string) Histogram {
	h := Histogram{}
	for _, series := range f[name].GetMetric() {
		if label != "" && !slices.ContainsFunc(series.GetLabel(), func(l *dto.LabelPair) bool { return strings.Contains(l.GetValue(), label) }) {
			continue
		}
		for _, bucket := range series.GetHistogram().GetBucket() {
			h[bucket.GetUpperBound()] += float64(bucket.GetCumulativeCount())
		}
	}
	return h
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
	rank := q * h.Count()
	lower, below := 0.0, 0.0
	for _, bound := range slices.Sorted(maps.Keys(h)) {
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
