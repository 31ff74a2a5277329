// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import "math"

// Limit is what a measurement is held against.
type Limit struct {
	Value float64 `json:"value"`
	// AtLeast makes it a lower limit.
	AtLeast bool `json:"atLeast,omitempty"`
	// Relative makes Value a multiple of the floor.
	Relative bool `json:"relative,omitempty"`
	// Allowance is added to the limit, in the unit of the measurement.
	Allowance float64 `json:"allowance,omitempty"`
}

// AtMost is an upper limit in the unit of the measurement.
func AtMost(value float64) *Limit { return &Limit{Value: value} }

// AtMostTimes is an upper limit as a multiple of the floor.
func AtMostTimes(value float64) *Limit { return &Limit{Value: value, Relative: true} }

// AtLeastTimes is a lower limit as a multiple of the floor.
func AtLeastTimes(value float64) *Limit { return &Limit{Value: value, Relative: true, AtLeast: true} }

// Plus is the limit with an allowance.
func (l *Limit) Plus(allowance float64) *Limit {
	with := *l
	with.Allowance = allowance
	return &with
}

// Row is one line of the table: a measurement and what it is held against.
type Row struct {
	// Goal is the number in docs/performance.md, such as G1.
	Goal string `json:"goal"`
	What string `json:"what"`
	Unit string `json:"unit,omitempty"`
	Must *Limit `json:"must,omitempty"`
	Aim  *Limit `json:"aim,omitempty"`
	// Floor is the same, measured without the controller.
	Floor    Sample `json:"floor,omitempty"`
	Measured Sample `json:"measured"`
	// Note says what one should know to read the figures.
	Note string `json:"note,omitempty"`
}

// Verdict is how a measurement stands.
type Verdict string

// The verdicts. A row without limits has none.
const (
	AimMet     Verdict = "aim"
	MustMet    Verdict = "must"
	ShortOfAim Verdict = "short of aim" // where there is no must
	Missed     Verdict = "MISSED"
	Unmeasured Verdict = "not measured"
	Unjudged   Verdict = ""
)

// Ratio is the measurement over its floor, repeat by repeat.
func (r *Row) Ratio() Sample { return r.Measured.Over(r.Floor) }

// Verdict holds the median against the limits.
func (r *Row) Verdict() Verdict {
	switch {
	case r.Must == nil && r.Aim == nil:
		return Unjudged
	case math.IsNaN(r.Measured.Median()), r.relative() && math.IsNaN(r.Ratio().Median()):
		return Unmeasured
	case r.Must != nil && !r.holds(r.Must):
		return Missed
	case r.Aim != nil && r.holds(r.Aim):
		return AimMet
	case r.Must == nil:
		return ShortOfAim
	default:
		return MustMet
	}
}

// relative reports whether a limit needs the floor.
func (r *Row) relative() bool {
	return r.Must != nil && r.Must.Relative || r.Aim != nil && r.Aim.Relative
}

func (r *Row) holds(limit *Limit) bool {
	value := r.Measured.Median()
	if limit.Relative {
		floor := r.Floor.Median()
		value = (value - limit.Allowance) / floor
		if limit.Allowance == 0 {
			value = r.Ratio().Median()
		}
	} else {
		value -= limit.Allowance
	}
	if limit.AtLeast {
		return value >= limit.Value
	}
	return value <= limit.Value
}

// text is the limit in the table.
func (r *Row) text(limit *Limit) string {
	if limit == nil {
		return "–"
	}
	sign, value := "≤ ", quantity(limit.Value, r.Unit)
	if limit.AtLeast {
		sign = "≥ "
	}
	if limit.Relative {
		value = number(limit.Value) + " ×"
	}
	if limit.Allowance != 0 {
		value += " + " + quantity(limit.Allowance, r.Unit)
	}
	return sign + value
}
