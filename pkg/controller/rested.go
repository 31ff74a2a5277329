// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/informer"
)

// rested remembers what each Application looked like when a sync found that nothing is left to do. A resync that
// finds it so again is done: the decisions are pure, so the same objects lead to the same end.
//
// Only a resync asks. All other syncs have a cause, and not every cause is an object that is looked at here: what the
// pods refer to, routes of others, the time.
type rested struct {
	seed maphash.Seed
	mu   sync.Mutex
	seen map[cache.ObjectName]glance
}

// glance is a hash over the versions of all objects that a sync begins with; 0 if there is no Application.
type glance uint64

func newRested() *rested {
	return &rested{seed: maphash.MakeSeed(), seen: map[cache.ObjectName]glance{}}
}

// note remembers what an Application that came to rest looks like.
func (r *rested) note(key cache.ObjectName, seen glance) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[key] = seen
}

// forget is called when an Application may not be at rest any more.
func (r *rested) forget(key cache.ObjectName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.seen, key)
}

// still tells whether an Application looks as it did when it came to rest.
func (r *rested) still(key cache.ObjectName, seen glance) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return seen != 0 && r.seen[key] == seen
}

// version is what tells one object from the other, and from itself at other times.
type version struct {
	kind            string
	uid             types.UID
	resourceVersion string
}

// glance looks at all objects that a sync begins with, and has to do so before the sync does: then it is at most
// older than what the sync finds, and a change in between only makes the next resync a whole one.
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
