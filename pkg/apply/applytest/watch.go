// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package applytest

import (
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/fairlead/pkg/child"
)

// HoldWatch withholds the events of a kind from all watches until ReleaseWatch, like a cache that lags behind.
func (s *Server) HoldWatch(kind child.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kindOf(kind.GroupVersionResource()).held = true
}

// ReleaseWatch delivers the events that HoldWatch withheld, and all later ones.
func (s *Server) ReleaseWatch(kind child.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kindOf(kind.GroupVersionResource())
	k.held = false
	for w := range k.watchers {
		w.wake()
	}
}

// ExpireWatch forgets the history of a kind, including withheld events, and ends its watches with 410 Gone. A client
// must list again, and misses what happened in between.
func (s *Server) ExpireWatch(kind child.Kind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kindOf(kind.GroupVersionResource())
	k.held = false
	k.compacted = len(k.events)
	for w := range k.watchers {
		w.wake()
	}
}

// scope is what a client lists and watches.
type scope struct {
	namespace string
	selector  labels.Selector
}

func (c scope) has(object child.Object) bool {
	return object != nil && (c.namespace == "" || object.GetNamespace() == c.namespace) &&
		c.selector.Matches(labels.Set(object.GetLabels()))
}

// watcher delivers the events of a kind one at a time, as its client receives them.
type watcher struct {
	server  *Server
	kind    *kind
	scope   scope
	next    int // index of the next event
	results chan watch.Event
	signal  chan struct{}
	done    chan struct{}
	stop    sync.Once
}

var _ watch.Interface = (*watcher)(nil)

// watch starts after the version. The caller holds the lock.
func (s *Server) watch(k *kind, c scope, after int64) (watch.Interface, error) {
	next := 0
	for next < len(k.events) && k.events[next].version <= after {
		next++
	}
	if next < k.compacted {
		return nil, apierrors.NewResourceExpired("the version is compacted")
	}
	w := &watcher{
		server: s, kind: k, scope: c, next: next,
		results: make(chan watch.Event),
		signal:  make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	k.watchers[w] = struct{}{}
	w.wake()
	go w.run()
	return w, nil
}

func (w *watcher) ResultChan() <-chan watch.Event { return w.results }

func (w *watcher) Stop() { w.stop.Do(func() { close(w.done) }) }

func (w *watcher) wake() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

func (w *watcher) run() {
	defer func() {
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		delete(w.kind.watchers, w)
		close(w.results)
	}()
	for {
		select {
		case <-w.signal:
		case <-w.done:
			return
		}
		for {
			event, more := w.take()
			if !more {
				break
			}
			select {
			case w.results <- event:
			case <-w.done:
				return
			}
			if event.Type == watch.Error {
				return
			}
		}
	}
}

// take returns the next event in the scope. To a watch by label, an object that loses the label is deleted.
func (w *watcher) take() (watch.Event, bool) {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	if w.next < w.kind.compacted {
		w.next = w.kind.compacted
		expired := apierrors.NewResourceExpired("the version is compacted").Status()
		return watch.Event{Type: watch.Error, Object: &expired}, true
	}
	for !w.kind.held && w.next < len(w.kind.events) {
		e := w.kind.events[w.next]
		w.next++
		had, has := w.scope.has(e.before), w.scope.has(e.after) && e.kind != watch.Deleted
		switch {
		case has && had:
			return watch.Event{Type: watch.Modified, Object: delivered(e.after)}, true
		case has:
			return watch.Event{Type: watch.Added, Object: delivered(e.after)}, true
		case had:
			// The event has the last state that matched, with the version of the change.
			gone := copyOf(e.before)
			gone.SetResourceVersion(e.after.GetResourceVersion())
			return watch.Event{Type: watch.Deleted, Object: delivered(gone)}, true
		}
	}
	return watch.Event{}, false
}

// delivered returns an object as a typed client decodes it: without apiVersion and kind.
func delivered(object child.Object) runtime.Object {
	copied := object.DeepCopyObject()
	copied.GetObjectKind().SetGroupVersionKind(noKind)
	return copied
}
