// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"hash/maphash"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
	"fairlead.dev/fairlead/pkg/plan"
)

// memory has the state of all Applications between their syncs. A restart loses it, so correctness does not depend on it: it
// keeps a sync from acting on stale caches, from repeating what the last one did, and from reverting another writer without
// a pause. It is safe for concurrent use; only one worker at a time syncs an Application.
type memory struct {
	// consistency has our own writes that the caches may not have observed.
	consistency *consistency.Store
	seed        maphash.Seed

	mu           sync.Mutex
	applications map[cache.ObjectName]*remembered
}

// remembered is the state of one Application.
type remembered struct {
	// confirmed is the UID of the Application whose cached version the API server has confirmed: a live read had the same
	// generation, or a status that names the version was accepted. "" is none yet.
	confirmed types.UID
	// quiet is the fingerprint of its last sync, if that left nothing to do; see fingerprint.go.
	quiet quiet
	// uid is the UID of the Application whose children were repaired. A new Application of the same name starts without
	// repairs. See repair_backoff.go.
	uid     types.UID
	repairs map[child.Ref]*repairs
	// written are the last writes to children that were not seen as rendered since; see repair_backoff.go.
	written map[child.Ref]plan.Written
	// statusDue is when a deferred status is written; see status_batch.go.
	statusDue time.Time
	// refused is the last Event about a status that the API server refuses.
	refused refusal
	// bursts are the latest changes of the ConfigMaps and Secrets that it refers to; see debounce.go.
	bursts map[referenced]burst
	// turn is when the next sync of a large Application may go on, if that has to wait. hasTurn is true while such a sync
	// runs, and tookTurns after the first one. See throttle.go.
	turn               time.Time
	hasTurn, tookTurns bool
	// sighted is the latest time of an object, and routes are when this process created those of routes; see server_time.go.
	sighted sighting
	routes  map[child.Ref]time.Time
	// sameSpec are generations of its Deployment; see unchanged_spec.go.
	sameSpec sameSpec
}

func newMemory(store *consistency.Store) *memory {
	return &memory{consistency: store, seed: maphash.MakeSeed(), applications: map[cache.ObjectName]*remembered{}}
}

// of returns the state of an Application, to change it. The caller has the lock.
func (m *memory) of(key cache.ObjectName) *remembered {
	r, found := m.applications[key]
	if !found {
		r = &remembered{}
		m.applications[key] = r
	}
	return r
}

// confirm remembers that the cached Application was current at a moment in the life of this process.
func (m *memory) confirm(application *v1.Application) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(cache.MetaObjectToName(application)).confirmed = application.UID
}

// isConfirmed reports whether this Application was confirmed.
func (m *memory) isConfirmed(application *v1.Application) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.applications[cache.MetaObjectToName(application)]
	return found && r.confirmed == application.UID
}

// forget drops the state of an Application.
func (m *memory) forget(key cache.ObjectName) {
	m.consistency.Clear(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.applications, key)
}
