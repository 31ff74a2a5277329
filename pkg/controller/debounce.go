// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/reference"
)

// A change of a ConfigMap or Secret replaces the pods that use it once debounceAfter has passed without a further
// change of the same object, and debounceMax after the first one at the latest. So a user who edits a Secret key by
// key, or a tool that writes several objects, causes one rollout.
const (
	debounceAfter = 2 * time.Second
	debounceMax   = 10 * time.Second
)

// referenced is a ConfigMap or Secret that an Application refers to.
type referenced struct {
	kind reference.Kind
	name string
}

// burst is a series of changes, none of them debounceAfter after the one before.
type burst struct{ first, last time.Time }

func (b burst) end() time.Time {
	quiet, limit := b.last.Add(debounceAfter), b.first.Add(debounceMax)
	if quiet.Before(limit) {
		return quiet
	}
	return limit
}

// referenceChanged remembers that a ConfigMap or Secret of an Application changed.
func (m *memory) referenceChanged(key cache.ObjectName, changed referenced, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	remembered := m.of(key)
	if remembered.bursts == nil {
		remembered.bursts = map[referenced]burst{}
	}
	b, found := remembered.bursts[changed]
	if !found || !now.Before(b.end()) {
		b.first = now
	}
	b.last = now
	remembered.bursts[changed] = b
}

// debounce returns the time until the burst of changes of a ConfigMap or Secret ends; 0 if it has ended.
func (m *memory) debounce(key cache.ObjectName, changed referenced, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	remembered, found := m.applications[key]
	if !found {
		return 0
	}
	left := remembered.bursts[changed].end().Sub(now)
	if left <= 0 {
		delete(remembered.bursts, changed)
		return 0
	}
	return left
}
