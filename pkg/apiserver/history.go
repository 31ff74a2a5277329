// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// keptChanges is how many changes a watch may lag behind at least, however few Applications there are.
const keptChanges = 1024

// history has the view of every Application, and the last changes of views for watches.
//
// A resourceVersion is a position in it. The first one is the time of the start in nanoseconds, and each change adds
// one. So the versions of two server processes never overlap, and a watch that another replica began gets 410 rather
// than a gap. A slow watch needs no buffer: it reads the shared changes, and gets 410 once they have moved on.
type history struct {
	mu      sync.RWMutex
	filled  bool
	version uint64
	views   map[cache.ObjectName]*v1alpha1.ApplicationRuntime
	// changes are the last ones, up to version without a gap.
	changes []change
	// changed is closed at the next change.
	changed chan struct{}
}

// change is one step of the history. before is nil for a new view, after for a removed one; the removed view is before,
// with the version of its removal. Nothing changes a view that is in the history.
type change struct {
	before, after *v1alpha1.ApplicationRuntime
}

func newHistory(start time.Time) *history {
	return &history{
		version: uint64(start.UnixNano()),
		views:   map[cache.ObjectName]*v1alpha1.ApplicationRuntime{},
		changed: make(chan struct{}),
	}
}

// markFilled says that the history has a view of every Application. Before, it answers 503.
func (h *history) markFilled() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.filled = true
}

func (h *history) ready() error {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !h.filled {
		return apierrors.NewServiceUnavailable("the caches of fairlead-apiserver are not filled yet; try again in a few seconds")
	}
	return nil
}

// set stores a view, unless it is as before. nil removes it. The view of another Application of the same name replaces nothing:
// the one before is removed.
func (h *history) set(name cache.ObjectName, view *v1alpha1.ApplicationRuntime) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.views[name]
	if view != nil && before != nil && view.UID != before.UID {
		h.step(name, before, nil)
		before = nil
	}
	if view == nil && before == nil || view != nil && before != nil && sameView(before, view) {
		return
	}
	h.step(name, before, view)
}

// step makes a change, of which one side may be nil.
func (h *history) step(name cache.ObjectName, before, view *v1alpha1.ApplicationRuntime) {
	h.version++
	version := strconv.FormatUint(h.version, 10)
	if view == nil {
		before = before.DeepCopy()
		before.ResourceVersion = version
		delete(h.views, name)
	} else {
		view.ResourceVersion = version
		h.views[name] = view
	}
	h.changes = append(h.changes, change{before: before, after: view})
	if kept := max(keptChanges, 2*len(h.views)); len(h.changes) > 2*kept {
		h.changes = slices.Clone(h.changes[len(h.changes)-kept:])
	}
	close(h.changed)
	h.changed = make(chan struct{})
}

// sameView compares all but the resourceVersions.
func sameView(a, b *v1alpha1.ApplicationRuntime) bool {
	compared := *b
	compared.ResourceVersion = a.ResourceVersion
	return equality.Semantic.DeepEqual(a, &compared)
}

func (h *history) get(name cache.ObjectName) (*v1alpha1.ApplicationRuntime, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	view, found := h.views[name]
	return view, found
}

// names are those of all views.
func (h *history) names() []cache.ObjectName {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return slices.Collect(maps.Keys(h.views))
}

// list returns the matching views in the order of their names, and the version that they are of.
func (h *history) list(match func(*v1alpha1.ApplicationRuntime) bool) ([]*v1alpha1.ApplicationRuntime, uint64) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var found []*v1alpha1.ApplicationRuntime
	for _, view := range h.views {
		if match(view) {
			found = append(found, view)
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.ApplicationRuntime) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return found, h.version
}

// since returns the changes after a version, and a channel that is closed at the next one. The error is 410 if the version
// is too old, or not from this history.
func (h *history) since(version uint64) ([]change, <-chan struct{}, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	oldest := h.version - uint64(len(h.changes))
	if version < oldest || version > h.version {
		return nil, nil, apierrors.NewResourceExpired(fmt.Sprintf("resourceVersion %d is not among the last changes of this server (%d to %d); list again", version, oldest, h.version))
	}
	return h.changes[version-oldest:], h.changed, nil
}

// event is the change as a watch with a selector sees it; not every change is one.
func (c change) event(match func(*v1alpha1.ApplicationRuntime) bool) (watch.Event, bool) {
	was, is := c.before != nil && match(c.before), c.after != nil && match(c.after)
	switch {
	case was && is:
		return watch.Event{Type: watch.Modified, Object: c.after}, true
	case is:
		return watch.Event{Type: watch.Added, Object: c.after}, true
	case was && c.after != nil:
		// It no longer matches. The version must be that of the change, so that the watch can be resumed after it.
		gone := c.before.DeepCopy()
		gone.ResourceVersion = c.after.ResourceVersion
		return watch.Event{Type: watch.Deleted, Object: gone}, true
	case was:
		return watch.Event{Type: watch.Deleted, Object: c.before}, true
	default:
		return watch.Event{}, false
	}
}
