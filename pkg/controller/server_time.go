// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// The times of objects are by the clock of the API server, and the wall clock of this machine may differ by hours: NTP sets it, or a VM
// resumes with an old one. Between two moments of this process the monotonic clock measures, which is never set. So where the age of an
// object matters, it follows from what this process has seen, as far as possible.

// sighting is a time that the clock of the API server had reached when this process saw it.
type sighting struct{ serverTime, seen time.Time }

// serverTime returns the time by the clock of the API server: that of this machine, unless an object shows that it is behind. What has
// a creationTimestamp or a deletionTimestamp in the cache has happened.
func (m *memory) serverTime(snapshot child.Snapshot, now time.Time) time.Time {
	latest := latestTime(snapshot)
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(cache.MetaObjectToName(snapshot.Application))
	reached := r.sighted.serverTime.Add(now.Sub(r.sighted.seen))
	if r.sighted.seen.IsZero() || latest.After(reached) {
		r.sighted, reached = sighting{latest, now}, latest
	}
	if now.Before(reached) {
		return reached
	}
	return now
}

// latestTime returns the latest time of the Application and its children that the API server has set.
func latestTime(snapshot child.Snapshot) time.Time {
	latest := snapshot.Application.CreationTimestamp.Time
	if deleted := snapshot.Application.DeletionTimestamp; deleted != nil {
		latest = later(latest, deleted.Time)
	}
	for _, object := range snapshot.Children {
		latest = later(latest, object.GetCreationTimestamp().Time)
		if deleted := object.GetDeletionTimestamp(); deleted != nil {
			latest = later(latest, deleted.Time)
		}
	}
	return latest
}

// created remembers when this process created an object of a route, for which the one that it replaces waits. If the answer was an
// error, it may exist all the same.
func (m *memory) created(application *v1.Application, ref child.Ref, now time.Time) {
	if ref.Kind != child.Ingress && ref.Kind != child.HTTPRoute {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.of(cache.MetaObjectToName(application))
	if r.routes == nil {
		r.routes = map[child.Ref]time.Time{}
	}
	r.routes[ref] = now
}

// ages returns how old the objects of routes are that this process created.
func (m *memory) ages(application *v1.Application, now time.Time) map[child.Ref]time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.applications[cache.MetaObjectToName(application)]
	if !found || len(r.routes) == 0 {
		return nil
	}
	ages := map[child.Ref]time.Duration{}
	for ref, created := range r.routes {
		ages[ref] = now.Sub(created)
	}
	return ages
}
