// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import "errors"

// Filter chooses events. What is empty does not matter.
type Filter struct {
	// Since is the sequence after which events are wanted.
	Since           uint64
	Namespace, Name string
	Stage           StageID
	Type            EventType
	Resource        string
	// Limit is how many, the newest ones. 0: all that are held.
	Limit int
}

// KeyFilter chooses keys. What is empty does not matter.
type KeyFilter struct {
	Namespace string
	// Contains is a part of the name.
	Contains string
	State    KeyState
	// Failing are only those whose last sync did not settle.
	Failing bool
	Limit   int
}

// Lookup chooses objects of a cache. What is empty does not matter.
type Lookup struct {
	Namespace, Name string
	// Index and Value look up in one of the indexes of the cache.
	Index, Value string
	Limit        int
}

var (
	// ErrNotFound is returned for what is not there.
	ErrNotFound = errors.New("not found")
	// ErrNotShown is returned for what is there and is not told: the Secrets of the cluster.
	ErrNotShown = errors.New("not shown")
)
