// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"time"
)

// InMemoryStore keeps the bundle in this process, for a controller outside the cluster: a single replica, which the
// API server calls by URL. The bundle is lost when the process ends.
type InMemoryStore struct {
	serving
}

var _ Store = &InMemoryStore{}

// NewInMemoryStore creates a CA and a leaf for the names, which are served and trusted at once. Without a [Rotator]
// they stay until they expire.
func NewInMemoryStore(names Names, policy Policy) (*InMemoryStore, error) {
	s := &InMemoryStore{serving: serving{name: "memory"}}
	if err := policy.validate(); err != nil {
		return nil, err
	}
	now := time.Now()
	bundle, err := perform(Input{Names: names, Policy: policy, Now: now}, Regenerate)
	if err != nil {
		return nil, err
	}
	return s, s.serve(bundle, now)
}

func (s *InMemoryStore) load(context.Context) (stored, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return stored{data: s.encoded}, nil
}

// save never returns errConflict, because a process has only one rotator.
func (s *InMemoryStore) save(_ context.Context, _ stored, data map[string][]byte) error {
	bundle, err := decode(data)
	if err != nil {
		return err
	}
	return s.serve(bundle, time.Now())
}
