// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/reference"
)

// referrers knows which Applications refer to which ConfigMap or Secret, according to their last syncs. An index over
// specs is not enough: after a rollback the pods use objects that the spec does not mention, and only a sync knows
// which revision runs.
type referrers struct {
	mu sync.RWMutex
	// refersTo has what each Application refers to; of has the reverse.
	refersTo map[cache.ObjectName][]referent
	of       map[referent]sets.Set[cache.ObjectName]
}

// referent is an object to which Applications refer; without a name, the whole kind.
type referent struct {
	kind reference.Kind
	name cache.ObjectName
}

func newReferrers() *referrers {
	return &referrers{refersTo: map[cache.ObjectName][]referent{}, of: map[referent]sets.Set[cache.ObjectName]{}}
}

// set replaces what an Application refers to.
func (r *referrers) set(application cache.ObjectName, references []reference.Reference) {
	next := make([]referent, 0, len(references)+len(reference.Kinds()))
	for _, to := range references {
		next = append(next, referent{kind: to.Kind}, referent{to.Kind, cache.ObjectName{Namespace: application.Namespace, Name: to.Name}})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Equal(r.refersTo[application], next) {
		return
	}
	for _, to := range r.refersTo[application] {
		r.of[to].Delete(application)
		if len(r.of[to]) == 0 {
			delete(r.of, to)
		}
	}
	delete(r.refersTo, application)
	if len(next) == 0 {
		return
	}
	r.refersTo[application] = next
	for _, to := range next {
		if r.of[to] == nil {
			r.of[to] = sets.New[cache.ObjectName]()
		}
		r.of[to].Insert(application)
	}
}

// find returns the Applications that refer to an object, or to any of the kind if object is nil.
func (r *referrers) find(kind reference.Kind, object *cache.ObjectName) []cache.ObjectName {
	to := referent{kind: kind}
	if object != nil {
		to.name = *object
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Keys(r.of[to]))
}
