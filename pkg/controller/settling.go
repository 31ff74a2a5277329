// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/reference"
)

// A change of what pods use replaces them once it has settled: after quietTime without a further
// change of the same object, and settleLimit after the first one at the latest. So somebody who
// edits a Secret key by key, or a tool that writes several objects, makes one rollout.
const (
	quietTime   = 2 * time.Second
	settleLimit = 10 * time.Second
)

// settling knows which ConfigMaps and Secrets changed just now. Nothing waits in here: the queue
// brings the keys back.
type settling struct {
	mu     sync.Mutex
	bursts map[referenced]burst
	swept  time.Time
}

type referenced struct {
	kind   reference.Kind
	object cache.ObjectName
}

// burst is a series of changes, none of them quietTime after the one before.
type burst struct{ first, last time.Time }

func (b burst) end() time.Time {
	quiet, limit := b.last.Add(quietTime), b.first.Add(settleLimit)
	if quiet.Before(limit) {
		return quiet
	}
	return limit
}

func newSettling() *settling {
	return &settling{bursts: map[referenced]burst{}}
}

// changed notes a change.
func (s *settling) changed(kind reference.Kind, object cache.ObjectName, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.Sub(s.swept) > settleLimit {
		s.sweep(at)
	}
	r := referenced{kind, object}
	b, found := s.bursts[r]
	if !found || !at.Before(b.end()) {
		b.first = at
	}
	b.last = at
	s.bursts[r] = b
}

// sweep drops the bursts that have ended.
func (s *settling) sweep(at time.Time) {
	for r, b := range s.bursts {
		if !at.Before(b.end()) {
			delete(s.bursts, r)
		}
	}
	s.swept = at
}

// wait is how long until the object has settled; 0 if it has.
func (s *settling) wait(kind reference.Kind, object cache.ObjectName, at time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.bursts[referenced{kind, object}].end().Sub(at))
}
