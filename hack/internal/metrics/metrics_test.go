// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const exposition = `# HELP d_seconds How long.
# TYPE d_seconds histogram
d_seconds_bucket{name="a",le="0.1"} 50
d_seconds_bucket{name="a",le="0.2"} 90
d_seconds_bucket{name="a",le="+Inf"} 100
d_seconds_sum{name="a"} 12
d_seconds_count{name="a"} 100
d_seconds_bucket{name="b",le="0.1"} 0
d_seconds_bucket{name="b",le="0.2"} 10
d_seconds_bucket{name="b",le="+Inf"} 1e+01
other_d_seconds_bucket{name="a",le="0.1"} 7
`

func TestHistogram(t *testing.T) {
	families, err := Parse([]byte(exposition))
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]Histogram{
		"":       {0.1: 50, 0.2: 100, math.Inf(1): 110},
		"b":      {0.1: 0, 0.2: 10, math.Inf(1): 10},
		"absent": {},
	} {
		if diff := cmp.Diff(want, families.Histogram("d_seconds", label)); diff != "" {
			t.Errorf("%q: want -, got +:\n%s", label, diff)
		}
	}
}

func TestQuantile(t *testing.T) {
	h := Histogram{0.1: 50, 0.2: 90, math.Inf(1): 100}
	for q, want := range map[float64]float64{0.25: 0.05, 0.5: 0.1, 0.7: 0.15, 0.9: 0.2, 0.99: 0.2} {
		if got := h.Quantile(q); math.Abs(got-want) > 1e-9 {
			t.Errorf("Quantile(%v) = %v, want %v", q, got, want)
		}
	}
}

func TestAdd(t *testing.T) {
	h := Histogram{1: 5, math.Inf(1): 7}
	h.Add(Histogram{1: 2, math.Inf(1): 3}, -1)
	if diff := cmp.Diff(Histogram{1: 3, math.Inf(1): 4}, h); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}
