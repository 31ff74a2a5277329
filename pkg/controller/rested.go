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
)

// rested remembers what each Application looked like when a sync found that nothing is left to do, and until when that
// holds. A sync without a cause that finds it so again is done: the decisions are pure, so the same objects lead to the
// same end.
//
// Without a cause are resyncs, and keys that come back by themselves: often an event was faster, and what they come
// back for is done. All other syncs have a cause, and not every cause is an object that is looked at here: what the pods
// refer to, routes of others.
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

// glance looks at all objects that a sync begins with, and has to do so before the sync does: then it is at most
// older than what the sync finds, and a change in between only makes the next sync a whole one.
func (r *rested) glance(informers *informer.Informers, key cache.ObjectName) (glance, error) {
	var sum uint64
	add := func(v version) {
		sum += maphash.Comparable(r.seed, v) // The caches have no order, so neither has a sum.
	}
	err := informers.EachSeen(key, func(kind string, object metav1.Object) {
		add(version{kind, object.GetUID(), object.GetResourceVersion()})
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
