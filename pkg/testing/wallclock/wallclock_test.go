// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package wallclock

import (
	"testing"
	"testing/synctest"
	"time"
)

// The wall clock moves, and the monotonic one does not.
func TestSet(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, 3 * time.Hour, -3 * time.Hour, 400 * 24 * time.Hour} {
		before := time.Now()
		got := set(before, int64(ahead/time.Second))
		if between := got.Sub(before); between != 0 {
			t.Errorf("%s ahead: the monotonic clock moves by %s", ahead, between)
		}
		if between := got.Round(0).Sub(before.Round(0)); between != ahead {
			t.Errorf("%s ahead: the wall clock moves by %s", ahead, between)
		}
		if later := got.Add(time.Minute); later.Sub(before) != time.Minute || later.Round(0).Sub(before.Round(0)) != ahead+time.Minute {
			t.Errorf("%s ahead: a minute later it is %s", ahead, later)
		}
	}
}

// In a bubble of testing/synctest a clock that is set still measures the time of the bubble.
func TestInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var clock Clock
		before := clock.Now()
		if !before.Round(0).Equal(time.Now()) {
			t.Errorf("it is %s, and the clock shows %s", time.Now(), before)
		}
		clock.Set(-3 * time.Hour)
		<-time.After(90 * time.Second)
		after := clock.Now()
		if passed := after.Sub(before); passed != 90*time.Second {
			t.Errorf("%s have passed, want 90s", passed)
		}
		if want := time.Now().Add(-3 * time.Hour); !after.Round(0).Equal(want) {
			t.Errorf("the clock shows %s, want %s", after, want)
		}
	})
}

// A clock that is set back shows an earlier time, and still measures.
func TestClock(t *testing.T) {
	t.Parallel()
	var clock Clock
	before := clock.Now()
	clock.Set(-time.Hour)
	after := clock.Now()
	if after.Before(before) || !after.Round(0).Before(before.Round(0)) {
		t.Errorf("%s, and an hour back %s", before, after)
	}
}
