// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"context"
	"testing"
	"time"
)

// setClock sets the wall clock of the leader's machine, as NTP does, or a VM that resumes. It stays so, also after the end of the program:
// a controller with a wrong clock gets to the same end.
func setClock(ctx context.Context, w *world, arguments []string) error {
	p, _, err := w.leader(ctx)
	if p == nil || err != nil {
		return err
	}
	p.clock.Set(map[string]time.Duration{"forward": 5 * time.Hour, "back": -5 * time.Hour, "right": 0}[arguments[0]])
	return nil
}

// TestClockForward sets the clock forward during a rollout, a repair and a move of a route, and before a restart.
func TestClockForward(t *testing.T) {
	replay(t, `
		create a full
		wait
		clock forward
		edit a image
		child a services edit
		wait
		edit a two-routes
		restart
		reference settings two
		create b references
		wait
		clock right
		wait
	`)
}

// TestClockBack does the same with a clock that is behind from then on, and holds a deletion up.
func TestClockBack(t *testing.T) {
	replay(t, `
		create a full
		create b orphan
		wait
		clock back
		edit a image
		child a services edit
		hold b on
		wait
		restart
		edit a two-routes
		delete b background
		pods a readiness-failing
		wait
	`)
}

// TestClockOfALeader lets the clocks of two leaders jump. Each forward jump ends a lease early, and none lets two of them write.
func TestClockOfALeader(t *testing.T) {
	replay(t, `
		replicas 2
		create a full
		wait
		clock forward
		edit a image
		let 3s
		edit a config
		wait
		clock back
		edit a image
		pause takeover
		edit a two-routes
		clock forward
		resume
		let 3s
		edit a image
		wait
	`)
}
