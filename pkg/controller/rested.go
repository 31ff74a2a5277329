// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/plan"
)

// rested remembers what each Application looked like when a sync found that nothing is left to do, and until when that
// holds. A sync that finds it so again is done: the decisions are pure, so the same objects lead to the same end.
//
// It is so in a resync; for keys that come back by themselves, when an event was faster; and for events that tell of
// nothing but what the sync before has written. Not everything that concerns an Application is looked at here, such as
// what its pods refer to, and routes of others: a sync that is due to those is always a whole one, see Trigger.Elsewhere.
type rested struct {
	seed  maphash.Seed
	mu    sync.Mutex
	rests map[cache.ObjectName]rest
}

// rest is how an Application looks, and when it has to be looked at again although it still does; zero: never.
type rest struct {
	seen  glance
	until time.Time
}

// glance is a hash over the versions of all objects that a sync begins with; 0 if there is no Application.
type glance uint64

func newRested() *rested {
	return &rested{seed: maphash.MakeSeed(), rests: map[cache.ObjectName]rest{}}
}

// note remembers what an Application that came to rest looks like. It rests for so long; 0: until something changes.
func (r *rested) note(key cache.ObjectName, seen glance, at time.Time, after time.Duration) {
	noted := rest{seen: seen}
	if after > 0 {
		noted.until = at.Add(after)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rests[key] = noted
}

// forget is called when an Application may not be at rest any more.
func (r *rested) forget(key cache.ObjectName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.rests, key)
}

// still tells whether an Application looks as it did when it came to rest, and after which time to look again; 0: never.
func (r *rested) still(key cache.ObjectName, seen glance, at time.Time) (after time.Duration, still bool) {
	r.mu.Lock()
	noted, found := r.rests[key]
	r.mu.Unlock()
	switch {
	case !found || seen == 0 || noted.seen != seen:
		return 0, false
	case noted.until.IsZero():
		return 0, true
	default:
		after = noted.until.Sub(at)
		return after, after > 0
	}
}

// version is what tells one object from the other, and from itself at other times.
type version struct {
	kind            string
	uid             types.UID
	resourceVersion string
}

func versionOf(kind string, object metav1.Object) version {
	return version{kind, object.GetUID(), object.GetResourceVersion()}
}

func (r *rested) hash(v version) uint64 { return maphash.Comparable(r.seed, v) }

// glance looks at all objects that a sync begins with, and has to do so before the sync does: then it is at most
// older than what the sync finds, and a change in between only makes the next sync a whole one.
func (r *rested) glance(informers *informer.Informers, key cache.ObjectName) (glance, error) {
	var sum uint64
	add := func(v version) {
		sum += r.hash(v) // The caches have no order, so neither has a sum.
	}
	err := informers.VisitSyncInputs(key, func(kind string, object metav1.Object) {
		add(versionOf(kind, object))
	})
	if err != nil || sum == 0 {
		return 0, err
	}
	classes, err := informers.Classes()
	if err != nil {
		return 0, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	for _, c := range classes {
		// Not the resourceVersion: the status of a class changes with each of its Applications.
		add(version{fmt.Sprintf("ApplicationClass, default: %t", class.IsMarkedDefault(c)), c.UID, strconv.FormatInt(c.Generation, 10)})
	}
	return glance(sum), nil
}

// afterwards is the glance at the objects that were seen, once the caches show what was written since; 0 if nobody can
// tell. The answer to a write may differ from what was sent, and only a whole sync looks at that: so it is told only if
// one follows within the settleTime.
func (r *rested) afterwards(seen glance, results []plan.Result, wholeSync time.Duration) glance {
	sum, wrote := uint64(seen), false
	for i := range results {
		result := &results[i]
		if !result.Changed() {
			continue
		}
		if result.Action == plan.Delete {
			return 0 // It may stay until its finalizers are done.
		}
		wrote = true
		if result.Live != nil {
			sum -= r.hash(versionOf(result.Ref.Kind.Kind, result.Live))
		}
		sum += r.hash(version{result.Ref.Kind.Kind, result.UID, result.ResourceVersion})
	}
	if wrote && (wholeSync == 0 || wholeSync > settleTime) {
		return 0
	}
	return glance(sum)
}
