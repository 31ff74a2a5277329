// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// A sync of a large Application costs the API server many times what a sync of an ordinary one costs: each
// write of a child, a revision or the status sends, validates and stores all of it. So large Applications of a namespace
// take turns, with rests in between. A tenant who edits large Applications all day leaves processor time to the others, and
// what changes while an Application waits is written once. Goal G12 of docs/performance.md measures it.
const (
	// A rest is restFactor times as long as syncs of the namespace's large Applications take. It is not shorter than minRest,
	// since what a sync costs the API server does not always show in how long it takes, and not longer than maxRest.
	restFactor = 10
	minRest    = time.Second
	maxRest    = 10 * time.Second
	// After an Application of less than fullCost, the rest is a share of that.
	fullCost = 24 << 10
)

// throttle has the turns of the namespaces. It is safe for concurrent use.
type throttle struct {
	mu         sync.Mutex
	namespaces map[string]*turns
}

// turns are those of a namespace: when the next one is, and how long a rest is at present.
type turns struct {
	next time.Time
	rest time.Duration
}

func newThrottle() *throttle {
	return &throttle{namespaces: map[string]*turns{}}
}

// reserve returns the next turn of a namespace, for an Application of this v1.WriteCost.
func (t *throttle) reserve(namespace string, cost int, now time.Time) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.namespaces, func(_ string, turns *turns) bool { return now.Sub(turns.next) > maxRest })
	reserved, found := t.namespaces[namespace]
	if !found {
		reserved = &turns{next: now, rest: minRest}
		t.namespaces[namespace] = reserved
	}
	turn := later(reserved.next, now)
	reserved.next = turn.Add(reserved.rest * time.Duration(min(cost, fullCost)) / fullCost)
	return turn
}

// synced adjusts the rests of a namespace to how long a sync took: half of it counts at once, the rest with later syncs.
func (t *throttle) synced(namespace string, took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if turns, found := t.namespaces[namespace]; found {
		turns.rest = min(max((turns.rest+restFactor*took)/2, minRest), maxRest)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// throttle returns how long a sync of the Application has to wait; 0 means that it goes on. Events do not change the turn
// of an Application that waits. The first sync after a start does not wait, unless the Application is new: it finds
// nothing to write.
func (c *Controller) throttle(key cache.ObjectName, application *v1.Application, now time.Time) time.Duration {
	cost := application.WriteCost()
	if cost <= v1.LargeCost {
		return 0
	}
	isNew := application.Status.ObservedGeneration < 1 // The default is -1.
	return c.memory.takeTurn(key, isNew, now, func() time.Time { return c.throttled.reserve(key.Namespace, cost, now) })
}

// takeTurn returns the time until the Application's turn, which it reserves if there is none. A turn that has come is
// taken.
func (m *memory) takeTurn(key cache.ObjectName, isNew bool, now time.Time, reserve func() time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	remembered := m.of(key)
	if remembered.turn.IsZero() && (remembered.tookTurns || isNew) {
		remembered.turn = reserve()
	}
	if wait := remembered.turn.Sub(now); wait > 0 {
		return wait
	}
	remembered.turn, remembered.tookTurns, remembered.hasTurn = time.Time{}, true, true
	return 0
}

// endTurn returns whether the sync that has ended took a turn.
func (m *memory) endTurn(key cache.ObjectName) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	remembered, found := m.applications[key]
	if !found || !remembered.hasTurn {
		return false
	}
	remembered.hasTurn = false
	return true
}
