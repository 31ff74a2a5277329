// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build chaos

package chaos

import (
	"fmt"
	"sync"
	"time"
)

// coverage counts what was run.
type coverage struct {
	begin time.Time

	mu              sync.Mutex
	programs, steps int
	pairs           map[[2]string]bool
}

func newCoverage() *coverage { return &coverage{begin: time.Now(), pairs: map[[2]string]bool{}} }

// ran counts a program: its steps, and which verb follows which. It returns how many programs there were.
func (c *coverage) ran(p program) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.programs++
	c.steps += len(p)
	for i := range len(p) - 1 {
		c.pairs[[2]string{p[i][0], p[i+1][0]}] = true
	}
	return c.programs
}

func (c *coverage) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	took := time.Since(c.begin)
	all := len(verbs()) * len(verbs())
	return fmt.Sprintf("%d programs, %d steps in %s: %.1f a second, %.0f an hour; %d of %d pairs of verbs (%d %%)", c.programs, c.steps, took.Round(time.Second),
		float64(c.steps)/took.Seconds(), float64(c.steps)/took.Hours(), len(c.pairs), all, 100*len(c.pairs)/all)
}
