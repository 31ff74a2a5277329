// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSample(t *testing.T) {
	tests := []struct {
		name        string
		sample      Sample
		median, p99 float64
	}{
		{"none", nil, math.NaN(), math.NaN()},
		{"one", Sample{3}, 3, 3},
		{"odd, unsorted", Sample{9, 1, 5}, 5, 9},
		{"even", Sample{4, 1, 2, 3}, 2.5, 4},
		{"an outlier among many", append(make(Sample, 99), 7), 0, 0},
		{"two outliers among many", append(make(Sample, 98), 7, 7), 0, 7},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.sample.Median(); !same(got, test.median) {
				t.Errorf("median %g, want %g", got, test.median)
			}
			if got := test.sample.Quantile(0.99); !same(got, test.p99) {
				t.Errorf("p99 %g, want %g", got, test.p99)
			}
		})
	}
}

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestOver(t *testing.T) {
	if diff := cmp.Diff(Sample{2, 3}, Sample{20, 60}.Over(Sample{10, 20})); diff != "" {
		t.Errorf("repeat by repeat: want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff(Sample{2, 4}, Sample{20, 40}.Over(Sample{5, 10, 15})); diff != "" {
		t.Errorf("with another number of repeats: want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff(Sample{2}, Sample{20, 60}.Over(Sample{10, 0})); diff != "" {
		t.Errorf("a repeat whose floor is 0: want -, got +:\n%s", diff)
	}
	if got := (Sample{1}).Over(nil); got != nil {
		t.Errorf("without a floor: %v", got)
	}
}

func TestVerdict(t *testing.T) {
	tests := []struct {
		name string
		row  Row
		want Verdict
	}{
		{"no limits", Row{Measured: Sample{1}}, Unjudged},
		{"nothing measured", Row{Must: AtMost(1)}, Unmeasured},
		{"no floor to hold it against", Row{Must: AtLeastTimes(0.75), Floor: Sample{0}, Measured: Sample{1}}, Unmeasured},
		{"aim met", Row{Must: AtMost(5), Aim: AtMost(2), Measured: Sample{1, 2, 9}}, AimMet},
		{"must met", Row{Must: AtMost(5), Aim: AtMost(2), Measured: Sample{3}}, MustMet},
		{"must met, and there is no aim", Row{Must: AtMost(0), Measured: Sample{0}}, MustMet},
		{"missed", Row{Must: AtMost(0), Measured: Sample{1}}, Missed},
		{"short of an aim without a must", Row{Aim: AtMost(1), Measured: Sample{2}}, ShortOfAim},
		{"a multiple of the floor", Row{Must: AtMostTimes(1.3), Floor: Sample{10, 100}, Measured: Sample{12, 125}}, MustMet},
		{"more than that", Row{Must: AtMostTimes(1.3), Floor: Sample{10}, Measured: Sample{14}}, Missed},
		{"a share of the floor", Row{Must: AtLeastTimes(0.75), Aim: AtLeastTimes(0.9), Floor: Sample{100}, Measured: Sample{80}}, MustMet},
		{"too small a share", Row{Must: AtLeastTimes(0.75), Floor: Sample{100}, Measured: Sample{70}}, Missed},
		{"an allowance", Row{Must: AtMostTimes(1.5).Plus(30), Aim: AtMostTimes(1.2), Floor: Sample{10}, Measured: Sample{45}}, MustMet},
		{"more than the allowance", Row{Must: AtMostTimes(1.5).Plus(30), Floor: Sample{10}, Measured: Sample{46}}, Missed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.row.Verdict(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTable(t *testing.T) {
	rows := []Row{
		{Goal: "G1", What: "converge ÷ raw apply", Unit: "s", Must: AtMostTimes(1.3), Floor: Sample{10, 12.5}, Measured: Sample{11, 13.75}, Note: "two repeats"},
		{Goal: "G3", What: "writes of a resync", Must: AtMost(0), Measured: Sample{0}},
		{Goal: "G9", What: "after an outage", Unit: "s", Must: AtMostTimes(1.5).Plus(30), Floor: Sample{100}, Measured: Sample{1234.5}},
		{Goal: "G6", What: "repair", Unit: "ms", Must: AtMost(1000)},
	}
	var b strings.Builder
	if err := WriteTable(&b, rows); err != nil {
		t.Fatal(err)
	}
	want := `| Goal | What                 | Must           | Aim | Floor            | Measured         | Ratio         | Verdict      |
| ---- | -------------------- | -------------- | --- | ---------------- | ---------------- | ------------- | ------------ |
| G1   | converge ÷ raw apply | ≤ 1.30 ×       | –   | 11.2 s (10–12.5) | 12.4 s (11–13.8) | 1.10 (1.10–1.10) | must         |
| G3   | writes of a resync   | ≤ 0            | –   | –                | 0                | –             | must         |
| G9   | after an outage      | ≤ 1.50 × + 30 s | –   | 100 s            | 1234 s           | 12.3          | MISSED       |
| G6   | repair               | ≤ 1000 ms      | –   | –                | –                | –             | not measured |

G1, converge ÷ raw apply: two repeats
`
	if diff := cmp.Diff(squeeze(want), squeeze(b.String())); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	lines := strings.Split(b.String(), "\n")
	if a, b := len([]rune(lines[0])), len([]rune(lines[3])); a != b {
		t.Errorf("lines of %d and %d characters: the table is not aligned", a, b)
	}
	if got := len(Judge(rows)); got != 3 {
		t.Errorf("%d judged rows, want those that were measured", got)
	}
}

// squeeze takes the alignment out, which has a test of its own.
func squeeze(text string) string {
	for strings.Contains(text, "  ") {
		text = strings.ReplaceAll(text, "  ", " ")
	}
	for strings.Contains(text, "--") {
		text = strings.ReplaceAll(text, "--", "-")
	}
	return text
}

func TestNumber(t *testing.T) {
	for value, want := range map[float64]string{
		0: "0", 3: "3", 10000: "10000", 1.2345: "1.23", 12.345: "12.3", 123.45: "123", 0.12345: "0.12", 0.0012: "0.0012", -2.5: "-2.50",
	} {
		if got := number(value); got != want {
			t.Errorf("%g is %q, want %q", value, got, want)
		}
	}
}
