// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// A lease of ten seconds ends when the first of the two clocks says so.
func TestFenceGoesByBothClocks(t *testing.T) {
	for name, test := range map[string]struct {
		// The time since the renewal of the lease, on each clock.
		monotonic, wall time.Duration
		mayWrite        bool
	}{
		"in time":                    {9 * time.Second, 9 * time.Second, true},
		"too late":                   {10 * time.Second, 10 * time.Second, false},
		"the machine was suspended":  {time.Second, time.Hour, false},
		"suspended shortly":          {time.Second, 8 * time.Second, true},
		"the wall clock went back":   {10 * time.Second, -time.Hour, false},
		"went back, still in time":   {9 * time.Second, -time.Hour, true},
		"the wall clock was forward": {0, 10 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := instant{wall: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
			f := newFence(t.Context(), &lock{lease: released(), identity: "one"}, 10*time.Second, nil)
			defer f.stop()
			f.clock = func() instant { return now }
			renew := func() error {
				return f.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "one", LeaseDurationSeconds: 15})
			}
			if _, _, err := f.Get(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := renew(); err != nil {
				t.Fatal(err)
			}
			now.monotonic += test.monotonic
			now.wall = now.wall.Add(test.wall)
			if test.mayWrite {
				if err := f.mayWrite(); err != nil {
					t.Errorf("it may not write: %v", err)
				}
				return
			}
			// The elector does not know, and renews too late.
			if err := renew(); err != nil {
				t.Fatal(err)
			}
			if err := f.mayWrite(); !errors.Is(err, errLeaseLost) {
				t.Errorf("it may write: %v", err)
			}
			if !errors.Is(context.Cause(f.lease), errLeaseLost) {
				t.Error("the syncs go on")
			}
		})
	}
}

// The first write after a suspend ends the lease, before any timer fires or the elector renews.
func TestFirstWriteAfterASuspend(t *testing.T) {
	f := newFence(t.Context(), &lock{lease: released(), identity: "one"}, 10*time.Second, nil)
	defer f.stop()
	f.acquired(f.clock(), false)
	if err := f.mayWrite(); err != nil {
		t.Fatal(err)
	}
	running := f.clock
	f.clock = func() instant {
		now := running()
		now.wall = now.wall.Add(time.Hour)
		return now
	}
	if err := f.mayWrite(); !errors.Is(err, errLeaseLost) || f.lease.Err() == nil {
		t.Errorf("after a suspend of an hour: %v, and the lease %v", err, f.lease.Err())
	}
}

// The machine's clock has both readings, and compares each with its own kind.
func TestClock(t *testing.T) {
	clock := newClock(nil)
	before := clock()
	after := clock()
	if after.monotonic < before.monotonic || before.isZero() || !before.reached(after) || before.add(time.Hour).reached(after) {
		t.Errorf("%+v, then %+v", before, after)
	}
}
