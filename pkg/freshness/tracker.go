// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package freshness makes sure that a sync reads its own writes.
//
// An informer's cache lags behind the API server. A sync that acts on a cache older than what
// the sync before it wrote would create what exists, or undo what was just done. So every write
// is remembered, and a sync waits until the caches have seen the last ones.
package freshness

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
)

// Caches is what the tracker asks about the informers' caches.
type Caches interface {
	// LastResourceVersion is the newest resourceVersion that the cache of the resource has seen
	// in the namespace, or "" if the cache cannot tell.
	LastResourceVersion(resource schema.GroupVersionResource, namespace string) string
	// Shows tells whether the cache still has an object with this UID that is not being deleted.
	Shows(resource schema.GroupVersionResource, object cache.ObjectName, uid types.UID) bool
}

// Tracker remembers, for each owner, what was last written. It is safe for concurrent use; the
// calls for one owner come from one worker at a time, as the queue guarantees.
type Tracker struct {
	mu     sync.Mutex
	owners map[cache.ObjectName]*writes
}

// writes are the last writes for one owner.
type writes struct {
	// versions has the newest resourceVersion written, by resource.
	versions map[schema.GroupVersionResource]string
	// deletions has the objects deleted: a delete returns no resourceVersion to wait for.
	deletions map[deletion]struct{}
}

type deletion struct {
	resource schema.GroupVersionResource
	object   cache.ObjectName
	uid      types.UID
}

// NewTracker makes an empty tracker.
func NewTracker() *Tracker {
	return &Tracker{owners: map[cache.ObjectName]*writes{}}
}

// Wrote remembers that an object of the resource was written for the owner and got this
// resourceVersion.
func (t *Tracker) Wrote(owner cache.ObjectName, resource schema.GroupVersionResource, version string) {
	if _, err := resourceversion.CompareResourceVersion(version, version); err != nil {
		return // No cache could ever be compared with it, and it must not hide what was written before.
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.of(owner)
	if behind(version, w.versions[resource]) {
		return // The answer came late.
	}
	w.versions[resource] = version
}

// Deleted remembers that an object was deleted for the owner.
func (t *Tracker) Deleted(owner cache.ObjectName, resource schema.GroupVersionResource, object cache.ObjectName, uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(owner).deletions[deletion{resource, object, uid}] = struct{}{}
}

// Stale returns the resources whose caches have not yet seen what was written for the owner.
// None means that the caches may be trusted.
func (t *Tracker) Stale(owner cache.ObjectName, caches Caches) []schema.GroupVersionResource {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, found := t.owners[owner]
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
		if caches.Shows(d.resource, d.object, d.uid) {
			stale = append(stale, d.resource)
			continue
		}
		delete(w.deletions, d)
	}
	if len(w.versions) == 0 && len(w.deletions) == 0 {
		delete(t.owners, owner)
	}
	return stale
}

// Forget drops what is remembered about an owner that is gone.
func (t *Tracker) Forget(owner cache.ObjectName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.owners, owner)
}

func (t *Tracker) of(owner cache.ObjectName) *writes {
	w, found := t.owners[owner]
	if !found {
		w = &writes{versions: map[schema.GroupVersionResource]string{}, deletions: map[deletion]struct{}{}}
		t.owners[owner] = w
	}
	return w
}

// behind tells whether a cache that has seen one version has not seen the other. A version that
// cannot be compared proves nothing, and waiting for it might never end; then the optimistic
// concurrency of the API server alone protects the write.
func behind(seen, written string) bool {
	order, err := resourceversion.CompareResourceVersion(seen, written)
	return err == nil && order < 0
}
