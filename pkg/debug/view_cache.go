// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import "time"

// CacheList are the informers' caches.
type CacheList struct {
	Version   string     `json:"version"`
	Instance  string     `json:"instance"`
	Time      time.Time  `json:"time"`
	Resources []Resource `json:"resources"`
}

// CachePage are objects of one cache.
type CachePage struct {
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	Resource string    `json:"resource"`
	// Index and Value are what was looked up; empty: all objects.
	Index string `json:"index,omitempty"`
	Value string `json:"value,omitempty"`
	// Total is how many objects fit, of which Objects may be only the first, by namespace and name.
	Total   int            `json:"total"`
	Objects []CachedObject `json:"objects"`
}

// CachedObject is an object in a cache, without its content.
type CachedObject struct {
	Name
	UID             string     `json:"uid,omitempty"`
	ResourceVersion string     `json:"resourceVersion,omitempty"`
	Generation      int64      `json:"generation,omitempty"`
	Created         *time.Time `json:"created,omitempty"`
	Deleting        bool       `json:"deleting,omitempty"`
	// Key is the Application that it belongs to.
	Key *Name `json:"key,omitempty"`
	// Indexed are the values under which each index has it.
	Indexed map[string][]string `json:"indexed,omitempty"`
	// Object is the object with its values redacted; only where one object was asked for. What is kept is
	// numbers, booleans, and words that the API defines or that name something. Everything else,
	// annotations and environment among it, is "redacted".
	Object any `json:"object,omitempty"`
}
