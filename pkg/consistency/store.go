// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package consistency makes sure that a sync reads its own writes, like the ConsistencyStore of
// kube-controller-manager.
//
// An informer's cache lags behind the API server. A sync that acted on a cache older than its owner's last write would
// create what exists, or undo that write. The Store remembers every write, and a sync ends early while a cache has not
// observed the last ones.
package consistency

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// Caches reports what the informers' caches have observed.
type Caches interface {
	// LastResourceVersion returns the newest resourceVersion that the cache of the resource has
	// observed in the namespace, or "" if it is unknown.
	LastResourceVersion(resource schema.GroupVersionResource, namespace string) string
	// HasLive reports whether the cache still has an object with this UID that is not being deleted.
	HasLive(resource schema.GroupVersionResource, object cache.ObjectName, uid types.UID) bool
}

// Store remembers the last writes for each owner. It is safe for concurrent use; the queue
// guarantees that only one worker at a time makes the calls for one owner.
type Store struct {
	mu     sync.Mutex
	owners map[cache.ObjectName]*writes
}

// writes are the last writes for one owner.
type writes struct {
	// versions has the newest resourceVersion written, by resource.
	versions map[schema.GroupVersionResource]string
	// deletions has the deleted objects: a delete returns no resourceVersion to wait for.
	deletions map[deletion]struct{}
}

type deletion struct {
	resource schema.GroupVersionResource
	object   cache.ObjectName
	uid      types.UID
}

// NewStore returns an empty Store.
func NewStore() *Store {
	return &Store{owners: map[cache.ObjectName]*writes{}}
}

// WroteAt records that a write for the owner gave an object of the resource this resourceVersion.
func (s *Store) WroteAt(owner cache.ObjectName, resource schema.GroupVersionResource, version string) {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return // It cannot be compared with any cache, and must not hide an earlier write.
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.of(owner)
	if behind(version, w.versions[resource]) {
		return // A late response to an earlier write.
	}
	w.versions[resource] = version
}

// Deleted records that an object was deleted for the owner.
func (s *Store) Deleted(owner cache.ObjectName, resource schema.GroupVersionResource, object cache.ObjectName, uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(owner).deletions[deletion{resource, object, uid}] = struct{}{}
}

// Stale returns the resources whose caches have not yet observed the writes for the owner. If there
// are none, the sync may trust the caches.
func (s *Store) Stale(owner cache.ObjectName, caches Caches) []schema.GroupVersionResource {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, found := s.owners[owner]
	if !found {
		return nil
	}
	var stale []schema.GroupVersionResource
	for resource, written := range w.versions {
		if behind(caches.LastResourceVersion(resource, owner.Namespace), written) {
			stale = append(stale, resource)
			continue
		}
		delete(w.versions, resource)
	}
	for d := range w.deletions {
		if caches.HasLive(d.resource, d.object, d.uid) {
			stale = append(stale, d.resource)
			continue
		}
		delete(w.deletions, d)
	}
	if len(w.versions) == 0 && len(w.deletions) == 0 {
		delete(s.owners, owner)
	}
	return stale
}

// Clear forgets the writes for an owner that was deleted.
func (s *Store) Clear(owner cache.ObjectName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.owners, owner)
}

func (s *Store) of(owner cache.ObjectName) *writes {
	w, found := s.owners[owner]
	if !found {
		w = &writes{versions: map[schema.GroupVersionResource]string{}, deletions: map[deletion]struct{}{}}
		s.owners[owner] = w
	}
	return w
}

// behind reports whether a cache that has observed one version has not observed the other. A version
// that cannot be compared proves nothing, and a wait for it might never end; then only the API
// server's optimistic concurrency protects the write.
func behind(seen, written string) bool {
	order, err := resourceversion.CompareResourceVersion(seen, written)
	return err == nil && order < 0
}
