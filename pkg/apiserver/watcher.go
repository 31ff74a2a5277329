// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// bookmarkPeriod is how often a watch that allows bookmarks gets one, as from kube-apiserver.
const bookmarkPeriod = time.Minute

// watcher sends the changes of a history to one client.
type watcher struct {
	history *history
	// version is of the last change that was sent, or passed over because it does not match.
	version   uint64
	match     func(*v1alpha1.ApplicationRuntime) bool
	show      func(*v1alpha1.ApplicationRuntime) *v1alpha1.ApplicationRuntime
	bookmarks bool
	// initial are the views that come first; endInitial: a bookmark marks their end.
	initial    []*v1alpha1.ApplicationRuntime
	endInitial bool
	events     chan watch.Event
	ended      func()          // is called at the end
	ctx        context.Context //nolint:containedctx // The life of the watch, which the caller of Watch ends by it.
}

// start sends the initial views and then every change, until the context ends or Stop is called.
func (w *watcher) start() watch.Interface {
	var stop context.CancelFunc
	w.ctx, stop = context.WithCancel(w.ctx)
	w.events = make(chan watch.Event)
	proxy := &stoppable{events: w.events, stop: stop}
	go func() {
		defer close(w.events)
		defer stop()
		defer w.ended()
		for _, view := range w.initial {
			if !w.send(watch.Event{Type: watch.Added, Object: w.show(view)}) {
				return
			}
		}
		w.initial = nil
		if w.endInitial && !w.send(w.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"})) {
			return
		}
		w.follow()
	}()
	return proxy
}

func (w *watcher) follow() {
	ticker := time.NewTicker(bookmarkPeriod)
	defer ticker.Stop()
	for {
		changes, changed, err := w.history.since(w.version)
		if err != nil {
			status, _ := err.(apierrors.APIStatus)
			reported := status.Status()
			w.send(watch.Event{Type: watch.Error, Object: &reported})
			return
		}
		for _, c := range changes {
			w.version++
			event, matches := c.event(w.match)
			if !matches {
				continue
			}
			if view, ok := event.Object.(*v1alpha1.ApplicationRuntime); ok {
				event.Object = w.show(view)
			}
			if !w.send(event) {
				return
			}
		}
		if len(changes) > 0 {
			continue
		}
		select {
		case <-w.ctx.Done():
			return
		case <-changed:
		case <-ticker.C:
			if w.bookmarks && !w.send(w.bookmark(nil)) {
				return
			}
		}
	}
}

// send reports whether the client has taken the event.
func (w *watcher) send(event watch.Event) bool {
	select {
	case w.events <- event:
		return true
	case <-w.ctx.Done():
		return false
	}
}

func (w *watcher) bookmark(annotations map[string]string) watch.Event {
	return watch.Event{Type: watch.Bookmark, Object: &v1alpha1.ApplicationRuntime{
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.FormatUint(w.version, 10), Annotations: annotations},
	}}
}

// stoppable is the watch.Interface of a watcher.
type stoppable struct {
	events <-chan watch.Event
	stop   context.CancelFunc
}

func (s *stoppable) ResultChan() <-chan watch.Event { return s.events }
func (s *stoppable) Stop()                          { s.stop() }
