// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// ListerWatcher records the requests of a ListerWatcher. Beside its methods, a reflector checks whether it has methods
// with a context, and whether its client cannot stream lists. The wrapper answers both as the wrapped one would. Without
// the latter, the reflector would expect of a fake client a stream whose initial events never end.
func (rr *ResourceRecorder) ListerWatcher(wrapped cache.ListerWatcher) cache.ListerWatcher {
	if rr == nil {
		return wrapped
	}
	return &listerWatcher{
		ListerWatcherWithContext: cache.ToListerWatcherWithContext(wrapped),
		withoutContext:           wrapped,
		cannotStream:             watchlist.DoesClientNotSupportWatchListSemantics(wrapped),
		resource:                 rr,
	}
}

type listerWatcher struct {
	cache.ListerWatcherWithContext
	withoutContext cache.ListerWatcher
	cannotStream   bool
	resource       *ResourceRecorder
}

var (
	_ cache.ListerWatcher            = (*listerWatcher)(nil)
	_ cache.ListerWatcherWithContext = (*listerWatcher)(nil)
)

// IsWatchListSemanticsUnSupported answers the reflector for the wrapped ListerWatcher.
func (l *listerWatcher) IsWatchListSemanticsUnSupported() bool { return l.cannotStream }

// List is for callers without a context. The reflector has one.
func (l *listerWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return l.withoutContext.List(options) //nolint:staticcheck // the interface asks for it
}

// Watch is for callers without a context. The reflector has one.
func (l *listerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return l.withoutContext.Watch(options) //nolint:staticcheck // the interface asks for it
}

func (l *listerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	rr, began := l.resource, time.Now()
	rr.change(func(s *resourceState) { s.state = stateListing; s.lists++ })
	list, err := l.ListerWatcherWithContext.ListWithContext(rr.context(ctx), options)
	rec := rr.request(TypeListed, "list", options, began, err)
	if err == nil {
		rec.count = int32(meta.LenList(list))
		if m, err := meta.ListAccessor(list); err == nil {
			rec.version = m.GetResourceVersion()
		}
	}
	rr.requested(rec, err)
	return list, err
}

func (l *listerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	rr, began := l.resource, time.Now()
	streaming := options.SendInitialEvents != nil && *options.SendInitialEvents
	rr.change(func(s *resourceState) {
		s.watches++
		if streaming {
			s.state = stateListing
			s.streaming++
		}
	})
	opened, err := l.ListerWatcherWithContext.WatchWithContext(rr.context(ctx), options)
	rec := rr.request(TypeWatchStarted, "watch", options, began, err)
	if streaming {
		rec.reason = "streaming the initial state"
		rr.change(func(s *resourceState) { s.state = stateListing }) // Earlier attempts may have failed.
	}
	rr.requested(rec, err)
	if err != nil {
		return nil, err
	}
	return rr.watched(opened, streaming, began), nil
}

func (rr *ResourceRecorder) change(change func(*resourceState)) {
	rr.mu.Lock()
	defer rr.mu.Unlock()
	change(&rr.state)
}

// request returns the record of a request that was just answered.
func (rr *ResourceRecorder) request(kind EventType, verb string, options metav1.ListOptions, began time.Time, err error) *record {
	now := time.Now()
	return &record{
		at: now.UnixNano(), took: int64(now.Sub(began)), stage: watching, kind: kind, resource: rr.Resource, verb: verb,
		oldVersion: options.ResourceVersion, result: resultOf(err), problem: Cause(err), code: int32(statusCode(err)),
	}
}

// requested keeps the record and updates the state of the resource.
func (rr *ResourceRecorder) requested(rec *record, err error) {
	rr.recorder.add(rec, &rr.recorder.notable, false, "")
	rr.change(func(s *resourceState) {
		s.problem = rec.problem
		switch {
		case err != nil:
			s.state = stateBroken
			if isExpired(err) {
				s.expired++
			}
		case rec.kind == TypeWatchStarted && s.state != stateListing, rec.kind == TypeListed:
			s.state = stateWatching
		}
	})
}

func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// watched forwards the events of a watch and records them.
func (rr *ResourceRecorder) watched(incoming watch.Interface, streaming bool, began time.Time) watch.Interface {
	w := &recordedWatch{
		resource: rr, incoming: incoming, streaming: streaming, began: began,
		result: make(chan watch.Event), stopped: make(chan struct{}),
	}
	w.stop = sync.OnceFunc(func() { close(w.stopped) })
	rr.change(func(s *resourceState) { s.since = began; s.watchesOpen++ })
	go w.run()
	return w
}

type recordedWatch struct {
	resource *ResourceRecorder
	incoming watch.Interface
	began    time.Time
	result   chan watch.Event
	stopped  chan struct{}
	stop     func()

	// Only run uses streaming. It is true until the initial events have ended.
	streaming bool
	events    int32
	ended     string
}

func (w *recordedWatch) ResultChan() <-chan watch.Event { return w.result }

// Stop ends the watch. It drops pending events, which no reader waits for.
func (w *recordedWatch) Stop() {
	w.stop()
	w.incoming.Stop()
}

func (w *recordedWatch) run() {
	defer close(w.result)
	defer w.end()
	for event := range w.incoming.ResultChan() {
		w.record(event)
		select {
		case w.result <- event:
		case <-w.stopped:
			return
		}
	}
}

func (w *recordedWatch) record(event watch.Event) {
	if event.Type == watch.Error {
		err := apierrors.FromObject(event.Object)
		w.ended = Cause(err)
		if isExpired(err) {
			w.resource.change(func(s *resourceState) { s.expired++ })
		}
		return
	}
	object, err := meta.Accessor(event.Object)
	if err != nil {
		return // The reflector logs the error.
	}
	now := time.Now()
	if event.Type == watch.Bookmark {
		w.bookmark(object, now)
		return
	}
	w.events++
	rr := w.resource
	rr.mu.Lock()
	rr.state.events++
	rr.state.lastEvent = now
	if !w.streaming {
		rr.recent.put(object.GetResourceVersion(), now)
	}
	rr.mu.Unlock()
	if w.streaming || rr.Foreign {
		rr.recorder.count(watching, string(event.Type), 0)
		return
	}
	rec := record{
		at: now.UnixNano(), stage: watching, kind: TypeWatchEvent, resource: rr.Resource, reason: string(event.Type),
		key: rr.Key(object), object: cache.ObjectName{Namespace: object.GetNamespace(), Name: object.GetName()}, version: object.GetResourceVersion(),
	}
	rr.recorder.add(&rec, &rr.recorder.routine, true, rec.reason)
}

func (w *recordedWatch) bookmark(object metav1.Object, now time.Time) {
	rr := w.resource
	rec := record{at: now.UnixNano(), stage: watching, kind: TypeBookmark, resource: rr.Resource, version: object.GetResourceVersion()}
	if w.streaming && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
		w.streaming = false
		rec.kind, rec.count, rec.took = TypeInitialEventsEnd, w.events, int64(now.Sub(w.began))
	}
	rr.change(func(s *resourceState) {
		s.bookmarks++
		s.lastEvent = now
		if !w.streaming {
			s.state = stateWatching
		}
	})
	into := &rr.recorder.routine
	if rec.kind == TypeInitialEventsEnd {
		into = &rr.recorder.notable
	}
	rr.recorder.add(&rec, into, false, "")
}

func (w *recordedWatch) end() {
	rec := record{
		at: time.Now().UnixNano(), stage: watching, kind: TypeWatchEnded, resource: w.resource.Resource,
		took: int64(time.Since(w.began)), count: w.events, reason: "ended by the server", problem: w.ended,
	}
	select {
	case <-w.stopped:
		rec.reason = "stopped"
	default:
	}
	w.resource.change(func(s *resourceState) { s.watchesOpen-- })
	w.resource.recorder.add(&rec, &w.resource.recorder.notable, false, "")
}
