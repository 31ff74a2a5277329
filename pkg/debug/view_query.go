// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import "errors"

// Filter selects events. Empty fields select all.
type Filter struct {
	// Since is the sequence after which the events begin.
	Since           uint64
	Namespace, Name string
	Stage           StageID
	Type            EventType
	Resource        string
	// Limit is the number of events, the newest ones; 0 means all.
	Limit int
}

// KeyFilter selects keys. Empty fields select all.
type KeyFilter struct {
	Namespace string
	// Contains is a part of the name.
	Contains string
	State    KeyState
	// Failing selects keys whose last sync did not succeed.
	Failing bool
	Limit   int
}

// Lookup selects objects of a cache. Empty fields select all.
type Lookup struct {
	Namespace, Name string
	// Index and Value select by an index of the cache.
	Index, Value string
	Limit        int
}

var (
	// ErrNotFound is returned if there is no such object, resource or index.
	ErrNotFound = errors.New("not found")
	// ErrNotShown is returned for objects that exist but are not shown: the Secrets of the cluster.
	ErrNotShown = errors.New("not shown")
)
