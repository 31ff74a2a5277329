// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/plan"
)

// A sync can stop early if it begins with the same objects as one that left nothing to do: the decisions are pure, so
// equal inputs have equal results. That holds for resyncs, for requeued keys that an event overtook, and for events of
// the controller's own writes. The fingerprint does not cover everything that concerns an Application, such as the
// ConfigMaps and Secrets of its pods, and the routes of other Applications. Events of those force a full sync; see
// workqueue.Trigger.

// fingerprint is a hash of the versions of all objects with which a sync begins; 0 if there is no Application.
type fingerprint uint64

// quiet is the fingerprint of a sync that left nothing to do, and when the next one is due although the fingerprint
// still matches; zero means never.
type quiet struct {
	fingerprint fingerprint
	until       time.Time
}

// noteQuiet remembers the fingerprint of a sync that left nothing to do for that long; 0 means until something changes.
func (m *memory) noteQuiet(key cache.ObjectName, expected fingerprint, now time.Time, requeueAfter time.Duration) {
	q := quiet{fingerprint: expected}
	if requeueAfter > 0 {
		q.until = now.Add(requeueAfter)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(key).quiet = q
}

// forgetFingerprint makes the next sync a full one.
func (m *memory) forgetFingerprint(key cache.ObjectName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, found := m.applications[key]; found {
		r.quiet = quiet{}
	}
}

// matches reports whether nothing is left to do, and the delay of the next sync; 0 means none.
//
// An event may bring the key here before the time that an earlier sync requested. The queue keeps the shorter of two
// delays, so the sync requests the rest of the longer one again.
func (m *memory) matches(key cache.ObjectName, observed fingerprint, now time.Time) (requeueAfter time.Duration, matches bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.applications[key]
	switch {
	case !found || observed == 0 || r.quiet.fingerprint != observed:
		return 0, false
	case r.quiet.until.IsZero():
		return 0, true
	default:
		requeueAfter = r.quiet.until.Sub(now)
		return requeueAfter, requeueAfter > 0
	}
}

// version identifies one version of an object.
type version struct {
	kind            string
	uid             types.UID
	resourceVersion string
}

func versionOf(kind string, object metav1.Object) version {
	return version{kind, object.GetUID(), object.GetResourceVersion()}
}

func (m *memory) hash(v version) uint64 { return maphash.Comparable(m.seed, v) }

// fingerprint hashes all objects with which a sync begins. It runs before they are read, so it is at most older than
// what the sync observes. A change in between only makes the next sync a full one.
func (c *Controller) fingerprint(key cache.ObjectName) (fingerprint, error) {
	var sum uint64
	add := func(v version) {
		sum += c.memory.hash(v) // A sum does not depend on the order, and the caches have none.
	}
	err := c.Informers.VisitSyncInputs(key, func(kind string, object metav1.Object) {
		add(versionOf(kind, object))
	})
	if err != nil || sum == 0 {
		return 0, err
	}
	classes, err := c.Informers.Classes()
	if err != nil {
		return 0, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	for _, applicationClass := range classes {
		// Not the resourceVersion: the status of a class changes with each of its Applications.
		kind := fmt.Sprintf("ApplicationClass, default: %t", class.IsMarkedDefault(applicationClass))
		add(version{kind, applicationClass.UID, strconv.FormatInt(applicationClass.Generation, 10)})
	}
	return fingerprint(sum), nil
}

// expected returns the fingerprint once the caches show the writes of this sync; 0 if that is unknown. The response to a
// write may differ from the request, which only a full sync notices. So it is known only if a full sync follows within
// the statusBatchPeriod.
func (m *memory) expected(observed fingerprint, results []plan.Result, fullSync time.Duration) fingerprint {
	sum, wrote := uint64(observed), false
	for i := range results {
		result := &results[i]
		if !result.Changed() {
			continue
		}
		if result.Action == plan.Delete {
			return 0 // The child may remain until its finalizers are removed.
		}
		wrote = true
		if result.Live != nil {
			sum -= m.hash(versionOf(result.Ref.Kind.Kind, result.Live))
		}
		sum += m.hash(version{result.Ref.Kind.Kind, result.UID, result.ResourceVersion})
	}
	if wrote && (fullSync == 0 || fullSync > statusBatchPeriod) {
		return 0
	}
	return fingerprint(sum)
}
