// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"
)

// point is a value at a time, in hours.
type point struct{ at, value float64 }

const (
	chartWidth  = 72
	chartHeight = 8
)

// chart draws points as text, from zero up, so that a slope is not made to look steeper than it is.
func chart(points []point) string {
	if len(points) == 0 {
		return ""
	}
	most := 0.0
	for _, p := range points {
		most = max(most, p.value)
	}
	if most == 0 {
		most = 1
	}
	rows := make([][]rune, chartHeight)
	for i := range rows {
		rows[i] = []rune(strings.Repeat(" ", chartWidth))
	}
	last := points[len(points)-1].at
	for _, p := range points {
		column := chartWidth - 1
		if last > 0 {
			column = int(p.at / last * (chartWidth - 1))
		}
		row := int(p.value / most * (chartHeight - 1))
		rows[chartHeight-1-row][column] = '*'
	}
	var b strings.Builder
	for i, row := range rows {
		label := ""
		switch i {
		case 0:
			label = fmt.Sprintf("%.0f", most)
		case chartHeight - 1:
			label = "0"
		}
		fmt.Fprintf(&b, "%8s |%s\n", label, strings.TrimRight(string(row), " "))
	}
	fmt.Fprintf(&b, "%8s +%s %.1f h\n", "", strings.Repeat("-", chartWidth), last)
	return b.String()
}

// slope is the median slope between any two points (Theil and Sen), in percent of the median value an hour. A relist after a
// fault, which lasts for one look, does not bend it as it would bend the line of least squares.
func slope(points []point) float64 {
	var slopes, values []float64
	for i, p := range points {
		values = append(values, p.value)
		for _, q := range points[:i] {
			if p.at > q.at {
				slopes = append(slopes, (p.value-q.value)/(p.at-q.at))
			}
		}
	}
	usual := median(values)
	if usual == 0 {
		return 0
	}
	return 100 * median(slopes) / usual
}

// quarters returns the median of each quarter of the points: what settles rises less from quarter to quarter, and a leak does not.
func quarters(points []point) (medians [4]float64) {
	for i := range medians {
		var values []float64
		for _, p := range points[len(points)*i/4 : len(points)*(i+1)/4] {
			values = append(values, p.value)
		}
		medians[i] = median(values)
	}
	return medians
}

// median returns the middle of the values, or 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
