// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"time"
)

// InMemoryStore has the bundle in this process alone, for running out of the cluster: one
// replica, which the API server calls under a URL. What it has is gone when the process ends.
type InMemoryStore struct {
	serving
}

var _ Store = &InMemoryStore{}

// NewInMemoryStore makes a CA and a leaf for the names, to be served and trusted at once. Without a
// [Rotator] it stays as it is until it expires.
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

// save has no conflicts: a process has one rotator.
func (s *InMemoryStore) save(_ context.Context, _ stored, data map[string][]byte) error {
	bundle, err := decode(data)
	if err != nil {
		return err
	}
	return s.serve(bundle, time.Now())
}
