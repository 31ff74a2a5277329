// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// Applications is the kind of the Applications, which is not a kind of child.
var Applications = child.Kind{
	Group: v1.SchemeGroupVersion.Group, Version: v1.SchemeGroupVersion.Version,
	Kind: v1.ApplicationKind, Resource: v1.ApplicationResource,
}

// ApplicationClasses is the kind of the ApplicationClasses, which are cluster-scoped.
var ApplicationClasses = child.Kind{
	Group: v1.SchemeGroupVersion.Group, Version: v1.SchemeGroupVersion.Version,
	Kind: v1.ApplicationClassKind, Resource: v1.ApplicationClassResource,
}

// ReplicaSets and Pods are what Kubernetes creates for a Deployment. This server does not: tests Put them.
var (
	ReplicaSets = child.Kind{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets"}
	Pods        = child.Kind{Version: "v1", Kind: "Pod", Resource: "pods"}
)

// Server stores objects. It is safe for concurrent use.
type Server struct {
	t      testing.TB
	scheme *runtime.Scheme
	kinds  map[schema.GroupVersionResource]*kind

	mu       sync.Mutex
	version  int64
	uids     int
	requests []Request
	hooks    []*hook
}

// kind is the storage of one kind.
type kind struct {
	child.Kind
	fields  *fieldManager // nil: no managed fields
	objects map[cache.ObjectName]child.Object
	// events has every event so far; the first compacted ones are no longer available.
	events    []event
	compacted int
	watchers  map[*watcher]struct{}
	held      bool
}

// event is a change. before is nil for an addition. A deletion has the last state in after, with the version of the
// deletion.
type event struct {
	kind          watch.EventType
	version       int64
	before, after child.Object
}

// NewServer returns an empty server that knows Applications and the kinds of children.
func NewServer(t testing.TB) *Server {
	t.Helper()
	m, err := sharedMachinery()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, scheme: m.scheme, version: 100, kinds: map[schema.GroupVersionResource]*kind{}}
	for _, k := range append(child.Kinds(), Applications, ApplicationClasses, ReplicaSets, Pods) {
		s.kinds[k.GroupVersionResource()] = &kind{
			Kind:     k,
			fields:   m.fields[k],
			objects:  map[cache.ObjectName]child.Object{},
			watchers: map[*watcher]struct{}{},
		}
	}
	s.knowReferences()
	return s
}

// Get returns a copy of a stored object as its own type, or the zero T if there is none.
func Get[T child.Object](s *Server, kind child.Kind, namespace, name string) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	var none T
	stored, found := s.kinds[kind.GroupVersionResource()].objects[cache.ObjectName{Namespace: namespace, Name: name}]
	if !found {
		return none
	}
	object, _ := stored.DeepCopyObject().(T)
	return object
}

// All returns the refs of all stored objects of the kinds, sorted by name within each kind. Without arguments it
// returns all kinds of children.
func (s *Server) All(kinds ...child.Kind) []child.Ref {
	if len(kinds) == 0 {
		kinds = child.Kinds()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refs := []child.Ref{}
	for _, k := range kinds {
		first := len(refs)
		for name := range s.kinds[k.GroupVersionResource()].objects {
			refs = append(refs, child.Ref{Kind: k, Namespace: name.Namespace, Name: name.Name})
		}
		slices.SortFunc(refs[first:], func(a, b child.Ref) int { return strings.Compare(a.String(), b.String()) })
	}
	return refs
}

// Version returns the newest resourceVersion. It stays while nothing changes.
func (s *Server) Version() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Changes returns how often an object of this name was added, changed or deleted.
func (s *Server) Changes(kind child.Kind, namespace, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, e := range s.kinds[kind.GroupVersionResource()].events {
		if e.after.GetNamespace() == namespace && e.after.GetName() == name {
			count++
		}
	}
	return count
}

// UIDs returns the UIDs of all objects that ever had this name, in the order of their creation.
func (s *Server) UIDs(kind child.Kind, namespace, name string) []types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var uids []types.UID
	for _, e := range s.kinds[kind.GroupVersionResource()].events {
		if e.kind == watch.Added && e.after.GetNamespace() == namespace && e.after.GetName() == name {
			uids = append(uids, e.after.GetUID())
		}
	}
	return uids
}

// kindOf returns the storage of a resource. An unknown resource is a bug in the test.
func (s *Server) kindOf(resource schema.GroupVersionResource) *kind {
	k, found := s.kinds[resource]
	if !found {
		panic(fmt.Sprintf("applytest: unknown resource %s", resource))
	}
	return k
}

// commit stores a change with the next version, and wakes the watchers. It takes ownership of after. The caller holds
// the lock.
func (s *Server) commit(k *kind, what watch.EventType, before, after child.Object) {
	s.version++
	after.SetResourceVersion(strconv.FormatInt(s.version, 10))
	after.GetObjectKind().SetGroupVersionKind(k.GroupVersionKind())
	name := cache.MetaObjectToName(after)
	if what == watch.Deleted {
		delete(k.objects, name)
	} else {
		k.objects[name] = after
	}
	k.events = append(k.events, event{kind: what, version: s.version, before: before, after: after})
	for w := range k.watchers {
		w.wake()
	}
}

// nextUID returns UIDs that are the same in each run. The caller holds the lock.
func (s *Server) nextUID() types.UID {
	s.uids++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.uids))
}

func copyOf(object child.Object) child.Object {
	copied, _ := object.DeepCopyObject().(child.Object)
	return copied
}
