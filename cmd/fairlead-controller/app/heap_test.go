// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"
)

func TestGrowAtStart(t *testing.T) {
	before := growth()
	t.Cleanup(func() { debug.SetGCPercent(before) })
	for _, test := range []struct {
		gogc            string
		start, caughtUp int
	}{
		{gogc: "", start: startGrowth, caughtUp: usualGrowth},
		{gogc: "50", start: 70, caughtUp: 70}, // What the runtime was told stays, whatever that is.
		{gogc: "off", start: 70, caughtUp: 70},
	} {
		t.Run("GOGC="+test.gogc, func(t *testing.T) {
			t.Setenv("GOGC", test.gogc)
			debug.SetGCPercent(70)
			synctest.Test(t, func(t *testing.T) { // It leaves a timer.
				caughtUp := growAtStart()
				start := growth()
				caughtUp()
				if then := growth(); start != test.start || then != test.caughtUp {
					t.Errorf("the heap grows by %d %%, then by %d %%; want %d and %d", start, then, test.start, test.caughtUp)
				}
			})
		})
	}
}

// A replica that waits for its turn is never caught up.
func TestGrowAtStartEnds(t *testing.T) {
	before := growth()
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "")
	synctest.Test(t, func(t *testing.T) {
		growAtStart()
		after(startTime - time.Second)
		if early := growth(); early != startGrowth {
			t.Errorf("after less than %v the heap grows by %d %%, want %d", startTime, early, startGrowth)
		}
		after(2 * time.Second)
		if late := growth(); late != usualGrowth {
			t.Errorf("after %v the heap grows by %d %%, want %d", startTime, late, usualGrowth)
		}
	})
}

// growth is the percentage that the runtime goes by.
func growth() int {
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(samples)
	return int(samples[0].Value.Uint64()) //nolint:gosec // A percentage.
}
