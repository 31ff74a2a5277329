// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package wallclock simulates a wall clock that is set while a process runs, as NTP does, or a VM that resumes.
//
// A time.Time of time.Now has two readings. Setting the clock changes the wall clock, and not the monotonic one: the time between two
// readings of one process stays right, and a comparison with the time of an object does not. time.Time.Add would move both, and so
// hide what goes wrong.
package wallclock

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// Clock is the clock of a machine. The zero value is right. It is safe for concurrent use.
type Clock struct {
	ahead atomic.Int64 // in seconds
}

// Set makes the wall clock run ahead of the real one, or behind for a negative duration. Parts of a second do not count.
func (c *Clock) Set(ahead time.Duration) { c.ahead.Store(int64(ahead / time.Second)) }

// Now reads the clock.
func (c *Clock) Now() time.Time { return set(time.Now(), c.ahead.Load()) }

// reading is how package time stores a time. It offers no way to change one reading alone; TestSet notices if a version of Go stores times
// differently.
type reading struct {
	// wall has hasMonotonic, the seconds since 1885 above secondsShift, and the nanoseconds.
	wall      uint64
	monotonic int64
	location  *time.Location
}

const (
	hasMonotonic = 1 << 63
	secondsShift = 30
)

// wallEpoch is from when the wall clock counts its seconds.
var wallEpoch = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC)

// set returns the time with another wall clock, and the same monotonic reading. In a bubble of testing/synctest there is none, and the
// clock is never set; so there it is both.
func set(t time.Time, seconds int64) time.Time {
	wall, monotonic := hasMonotonic|uint64(t.Unix()-wallEpoch.Unix())<<secondsShift|uint64(t.Nanosecond()), t.UnixNano()
	r := (*reading)(unsafe.Pointer(&t))
	if r.wall&hasMonotonic == 0 {
		r.wall, r.monotonic = wall, monotonic
	}
	r.wall += uint64(seconds) << secondsShift // Two's complement: it subtracts, too.
	return t
}
