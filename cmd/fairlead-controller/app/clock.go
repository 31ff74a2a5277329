// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import "time"

// instant is a moment on both clocks of the machine. Neither alone measures a lease: the monotonic clock stands still
// while the machine is suspended or its VM is paused, and the wall clock may be set back.
type instant struct {
	wall      time.Time     // without a monotonic reading
	monotonic time.Duration // since newClock
}

// newClock returns a function that reads both clocks. now is time.Now, except in tests.
func newClock(now func() time.Time) func() instant {
	if now == nil {
		now = time.Now
	}
	began := now()
	return func() instant {
		now := now()
		return instant{wall: now.Round(0), monotonic: now.Sub(began)}
	}
}

func (i instant) isZero() bool { return i == instant{} }

func (i instant) add(d time.Duration) instant {
	return instant{wall: i.wall.Add(d), monotonic: i.monotonic + d}
}

// reached reports whether either clock has reached the moment. So setting the wall clock back prolongs nothing;
// setting it forward ends a wait early.
func (i instant) reached(now instant) bool {
	return now.monotonic >= i.monotonic || !now.wall.Before(i.wall)
}
