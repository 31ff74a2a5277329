// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// ResourceOptions describes an informer.
type ResourceOptions struct {
	// Resource is the plural with the group, as in "deployments.apps".
	Resource string
	// Role and Namespace are as in Resource.
	Role, Namespace string
	// Key returns the Application to which an object of the watch belongs, or none.
	Key func(metav1.Object) cache.ObjectName
	// CachedKey is Key for cached objects, if a transform replaces them; nil means Key.
	CachedKey func(any) cache.ObjectName
	// Unpack returns the object that a cached one represents; nil means the cached one itself.
	Unpack func(cached any) (any, error)
	// Foreign means that most objects belong to no Application: they are counted, and not listed.
	Foreign bool
	// Hidden means that not even names may be shown.
	Hidden bool
}

// ResourceRecorder records what one informer does. A nil one does nothing.
type ResourceRecorder struct {
	ResourceOptions
	recorder *Recorder
	// indexer is nil until SetCache. It has its own lock.
	indexer cache.Indexer
	fifo    fifoMetrics

	mu     sync.Mutex
	state  resourceState
	recent arrivals
}

// resourceState is the state that Resource shows.
type resourceState struct {
	state                              string
	lists, watches, streaming, expired uint64
	bookmarks, events, bytes           uint64
	watchesOpen                        int64
	since, lastEvent                   time.Time
	problem                            string
}

// The states of a Resource.
const (
	stateWaiting  = "Waiting"
	stateListing  = "Listing"
	stateWatching = "Watching"
	stateBroken   = "Broken"
)

// Resource returns the recorder of an informer. Call it before creating the informer.
func (r *Recorder) Resource(options ResourceOptions) *ResourceRecorder {
	if r == nil {
		return nil
	}
	rr := &ResourceRecorder{ResourceOptions: options, recorder: r, state: resourceState{state: stateWaiting}}
	if rr.CachedKey == nil {
		rr.CachedKey = func(object any) cache.ObjectName {
			if o, ok := object.(metav1.Object); ok {
				return options.Key(o)
			}
			return cache.ObjectName{}
		}
	}
	r.sources.Lock()
	defer r.sources.Unlock()
	r.resources = append(r.resources, rr)
	return rr
}

// SetCache sets the cache of an informer that is about to run. nil means that the informer has stopped and the next one
// does not exist yet.
func (rr *ResourceRecorder) SetCache(indexer cache.Indexer) {
	if rr == nil {
		return
	}
	rr.change(func(s *resourceState) { s.state, s.since, s.problem = stateWaiting, time.Time{}, "" })
	rr.fifo.queued.Store(0)
	rr.recorder.sources.Lock()
	defer rr.recorder.sources.Unlock()
	rr.indexer = indexer
}

// The changes of an object that Handled records.
const (
	Added    = "Added"
	Listed   = "Listed"
	Updated  = "Updated"
	Deleted  = "Deleted"
	Resynced = "Resynced"
)

// Handled records a call of a handler, with the object before and after; nil if there is none. It compares them only
// while a viewer is connected.
func (rr *ResourceRecorder) Handled(key cache.ObjectName, before, after metav1.Object, initialList bool) {
	if rr == nil {
		return
	}
	now := time.Now()
	rec := record{at: now.UnixNano(), stage: handling, kind: TypeHandled, resource: rr.Resource, key: key, happened: Added}
	object := after
	if before != nil {
		rec.oldVersion = before.GetResourceVersion()
	}
	switch {
	case after == nil:
		object, rec.happened = before, Deleted
	case before == nil && initialList:
		rec.happened = Listed
	case before != nil && before.GetResourceVersion() == after.GetResourceVersion():
		rec.happened = Resynced
	case before != nil:
		rec.happened = Updated
	}
	rec.object = cache.ObjectName{Namespace: object.GetNamespace(), Name: object.GetName()}
	rec.version = object.GetResourceVersion()
	if rec.happened != Listed && rec.happened != Resynced {
		rec.took = rr.sinceArrival(rec.version, now)
	}
	if rec.happened == Updated && rr.recorder.viewed() {
		rec.fields = rr.changedFields(before, after)
	}
	rr.recorder.add(&rec, &rr.recorder.routine, true, rec.happened)
}

// changedFields compares two cached objects.
func (rr *ResourceRecorder) changedFields(before, after any) []string {
	a, err := rr.unpack(before)
	if err != nil {
		return nil
	}
	b, err := rr.unpack(after)
	if err != nil {
		return nil
	}
	return changedFields(a, b)
}

func (rr *ResourceRecorder) unpack(cached any) (any, error) {
	if rr.Unpack == nil {
		return cached, nil
	}
	return rr.Unpack(cached)
}

// arrivals are the times at which the newest watch events arrived. Handlers get events in that order, so a search begins
// after the last hit.
type arrivals struct {
	versions   [256]string
	times      [256]time.Time
	head, tail int
}

func (a *arrivals) put(version string, at time.Time) {
	a.versions[a.head], a.times[a.head] = version, at
	a.head = (a.head + 1) % len(a.versions)
	if a.head == a.tail {
		a.tail = (a.tail + 1) % len(a.versions)
	}
}

func (a *arrivals) take(version string) (time.Time, bool) {
	for i := a.tail; i != a.head; i = (i + 1) % len(a.versions) {
		if a.versions[i] == version {
			a.tail = (i + 1) % len(a.versions)
			return a.times[i], true
		}
	}
	return time.Time{}, false
}

func (rr *ResourceRecorder) sinceArrival(version string, now time.Time) int64 {
	rr.mu.Lock()
	defer rr.mu.Unlock()
	if at, found := rr.recent.take(version); found {
		return int64(now.Sub(at))
	}
	return 0
}

// resource returns the view of the informer.
func (rr *ResourceRecorder) resource(indexer cache.Indexer) Resource {
	rr.mu.Lock()
	s := rr.state
	rr.mu.Unlock()
	described := Resource{
		Resource: rr.Resource, Role: rr.Role, Namespace: rr.Namespace, State: s.state, FIFO: rr.fifo.depth(),
		Lists: s.lists, Watches: s.watches, Streaming: s.streaming, Expired: s.expired,
		Bookmarks: s.bookmarks, Events: s.events, Bytes: s.bytes, Error: s.problem,
		Since: optionalTimeOf(s.since), LastEvent: optionalTimeOf(s.lastEvent),
	}
	if indexer == nil {
		described.State = stateWaiting // Even if a watch has not noticed yet that it was stopped.
	} else {
		described.Objects = len(indexer.ListKeys())
		described.ResourceVersion = indexer.LastStoreSyncResourceVersion()
		described.Indexes = indexNames(indexer)
	}
	return described
}
