// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
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

// slope is that of the straight line that fits best, in percent of the mean an hour.
func slope(points []point) float64 {
	n := float64(len(points))
	var at, value float64
	for _, p := range points {
		at += p.at / n
		value += p.value / n
	}
	var product, square float64
	for _, p := range points {
		product += (p.at - at) * (p.value - value)
		square += (p.at - at) * (p.at - at)
	}
	if square == 0 || value == 0 {
		return 0
	}
	return 100 * product / square / value
}
