// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"runtime/debug"
	"time"
)

const (
	// usualGrowth is by how many percent the heap grows between two collections if GOGC says nothing.
	usualGrowth = 100
	// startGrowth is that until all Applications have been looked at once. To fill the caches and to look makes far more
	// garbage than there is ever again, and each collection meanwhile goes over all that is there to stay. GOMEMLIMIT holds.
	startGrowth = 200
	// startTime bounds how long that is: a replica that waits for its turn looks at none.
	startTime = time.Minute
)

// growAtStart lets the heap grow in larger steps until caughtUp is called, at most for startTime. GOGC, where it is set, is
// left alone.
func growAtStart() (caughtUp func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(startGrowth)
	caughtUp = func() { debug.SetGCPercent(usualGrowth) }
	time.AfterFunc(startTime, caughtUp)
	return caughtUp
}
