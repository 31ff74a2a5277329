// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"
)

func TestSlope(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		points []point
		want   float64
	}{
		"flat":          {[]point{{0, 50}, {1, 50}, {2, 50}}, 0},
		"grows":         {[]point{{0, 90}, {1, 100}, {2, 110}}, 10},
		"shrinks":       {[]point{{0, 110}, {1, 100}, {2, 90}}, -10},
		"noise is none": {[]point{{0, 90}, {1, 110}, {2, 110}, {3, 90}}, 0},
		"one spike":     {[]point{{0, 50}, {1, 500}, {2, 50}, {3, 50}, {4, 50}}, 0},
		"half an hour":  {[]point{{0, 99}, {0.5, 101}}, 4},
		"one point":     {[]point{{1, 5}}, 0},
		"nothing":       {[]point{{0, 0}, {1, 0}}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := slope(test.points); math.Abs(got-test.want) > 1e-9 {
				t.Errorf("the slope is %g %%/h, want %g", got, test.want)
			}
		})
	}
}

func TestChart(t *testing.T) {
	t.Parallel()
	lines := strings.Split(chart([]point{{0, 0}, {1, 40}, {2, 80}}), "\n")
	if len(lines) != chartHeight+2 || !strings.HasPrefix(lines[0], "      80 |") || !strings.HasSuffix(lines[0], "*") {
		t.Errorf("the last point, which is the highest, is not at the top right:\n%s", strings.Join(lines, "\n"))
	}
	if bottom := lines[chartHeight-1]; bottom != "       0 |*" {
		t.Errorf("the first point is not at the bottom left: %q", bottom)
	}
	if got := chart(nil); got != "" {
		t.Errorf("a chart of nothing is %q", got)
	}
}

func TestQuarters(t *testing.T) {
	t.Parallel()
	if got, want := quarters([]point{{0, 1}, {1, 3}, {2, 4}, {3, 4}, {4, 9}, {5, 7}, {6, 0}, {7, 8}}), [4]float64{2, 4, 8, 4}; got != want {
		t.Errorf("the medians are %v, want %v", got, want)
	}
	if got := quarters([]point{{1, 5}}); got != [4]float64{3: 5} {
		t.Errorf("the medians of one point are %v", got)
	}
}
