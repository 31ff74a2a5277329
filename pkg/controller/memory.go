// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"hash/maphash"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
)

// memory is all that is remembered of an Application from one sync to the next. None of it is needed to be correct,
// since a restart loses it: it keeps a sync from acting on stale caches, from doing again what was just done, and from
// fighting another writer at full speed. It is safe for concurrent use; only one worker at a time syncs an Application.
type memory struct {
	// consistency has the own writes that the caches may not show yet.
	consistency *consistency.Store
	seed        maphash.Seed

	mu           sync.Mutex
	applications map[cache.ObjectName]*remembered
}

// remembered is what is remembered of one Application.
type remembered struct {
	// quiet is what its last sync began with, if that left nothing to do; see fingerprint.go.
	quiet quiet
	// uid is the UID of the Application to which the repairs of its children belong: an Application that is created again
	// under the same name starts without any. See repair_backoff.go.
	uid     types.UID
	repairs map[child.Ref]*repairs
	// statusDue is when a deferred status is written; see status_batch.go.
	statusDue time.Time
	// bursts are the latest changes of the ConfigMaps and Secrets that it refers to; see debounce.go.
	bursts map[referenced]burst
}

func newMemory(store *consistency.Store) *memory {
	return &memory{consistency: store, seed: maphash.MakeSeed(), applications: map[cache.ObjectName]*remembered{}}
}

// of returns what is remembered of an Application, to change it. The caller has the lock.
func (m *memory) of(key cache.ObjectName) *remembered {
	r, found := m.applications[key]
	if !found {
		r = &remembered{}
		m.applications[key] = r
	}
	return r
}

// forget drops all that is remembered of an Application.
func (m *memory) forget(key cache.ObjectName) {
	m.consistency.Clear(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.applications, key)
}
