// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Count is how often a request was made.
type Count struct {
	Verb     string `json:"verb"`
	Resource string `json:"resource"`
	User     string `json:"user"`
	Count    int    `json:"count"`
	// Each is the count over the number of Applications.
	Each float64 `json:"each"`
}

// Report is everything that a run has measured.
type Report struct {
	// Environment says where: processors, versions, sizes.
	Environment map[string]string `json:"environment"`
	Rows        []Row             `json:"rows"`
	// Requests are those that converging cost, of the repeat that made most.
	Requests []Count `json:"requests,omitempty"`
}

// Judged is a row as JSON has it: with what the table computes.
type Judged struct {
	Row
	Median  float64 `json:"median"`
	Ratio   Sample  `json:"ratio,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
}

// Judge adds to the rows what follows from them. A row that measured nothing is left out: JSON has no NaN.
func Judge(rows []Row) []Judged {
	judged := make([]Judged, 0, len(rows))
	for i := range rows {
		if row := &rows[i]; len(row.Measured) > 0 {
			judged = append(judged, Judged{Row: *row, Median: row.Measured.Median(), Ratio: row.Ratio(), Verdict: row.Verdict()})
		}
	}
	return judged
}

// WriteTable writes the rows as a table in Markdown, aligned so that it can be read as it is.
func WriteTable(w io.Writer, rows []Row) error {
	table := [][]string{{"Goal", "What", "Must", "Aim", "Floor", "Measured", "Ratio", "Verdict"}}
	for i := range rows {
		row := &rows[i]
		table = append(table, []string{
			row.Goal, row.What, row.text(row.Must), row.text(row.Aim),
			spread(row.Floor, row.Unit), spread(row.Measured, row.Unit), spread(row.Ratio(), ""), string(row.Verdict()),
		})
	}
	if err := writeAligned(w, table); err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Note == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s, %s: %s", rows[i].Goal, rows[i].What, rows[i].Note); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// WriteCounts writes requests as a table.
func WriteCounts(w io.Writer, counts []Count) error {
	table := [][]string{{"Verb", "Resource", "User", "Requests", "Each"}}
	for _, c := range counts {
		table = append(table, []string{c.Verb, c.Resource, c.User, strconv.Itoa(c.Count), number(c.Each)})
	}
	return writeAligned(w, table)
}

func writeAligned(w io.Writer, table [][]string) error {
	widths := make([]int, len(table[0]))
	for _, row := range table {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	rule := make([]string, len(widths))
	for i, width := range widths {
		rule[i] = strings.Repeat("-", width)
	}
	for i, row := range table {
		lines := [][]string{row}
		if i == 0 {
			lines = append(lines, rule)
		}
		for _, cells := range lines {
			var b strings.Builder
			for j, cell := range cells {
				b.WriteString("| " + cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)) + " ")
			}
			if _, err := fmt.Fprintln(w, b.String()+"|"); err != nil {
				return err
			}
		}
	}
	return nil
}

// spread is a sample for people: the median, and in brackets the smallest and the largest.
func spread(s Sample, unit string) string {
	switch len(s) {
	case 0:
		return "–"
	case 1:
		return quantity(s[0], unit)
	default:
		return fmt.Sprintf("%s (%s–%s)", quantity(s.Median(), unit), number(s.Quantile(0)), number(s.Quantile(1)))
	}
}

func quantity(value float64, unit string) string {
	if unit == "" {
		return number(value)
	}
	return number(value) + " " + unit
}

// number keeps three digits that mean something.
func number(value float64) string {
	const digits = 3
	if value == math.Trunc(value) || math.IsNaN(value) || math.IsInf(value, 0) {
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	whole := len(strconv.FormatFloat(math.Trunc(math.Abs(value)), 'f', -1, 64))
	if math.Abs(value) < 1 {
		return strconv.FormatFloat(value, 'g', digits-1, 64)
	}
	return strconv.FormatFloat(value, 'f', max(0, digits-whole), 64)
}
