// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/fairlead/pkg/apis/subresources/v1alpha1"
)

// next returns the next event of a watch.
func (f *fixture) next(w watch.Interface) watch.Event {
	f.Helper()
	select {
	case event, open := <-w.ResultChan():
		if !open {
			f.Fatal("the watch ended")
		}
		return event
	case <-time.After(soon):
		f.Fatal("no event")
	}
	return watch.Event{}
}

// untilEvent returns the first event that is as wanted.
func (f *fixture) untilEvent(w watch.Interface, wanted func(watch.EventType, *v1alpha1.ApplicationRuntime) bool) *v1alpha1.ApplicationRuntime {
	f.Helper()
	for {
		event := f.next(w)
		if view, ok := event.Object.(*v1alpha1.ApplicationRuntime); ok && wanted(event.Type, view) {
			return view
		}
	}
}

func TestWatch(t *testing.T) {
	f := start(t)
	views := f.fairlead.SubresourcesV1alpha1().ApplicationRuntimes(f.namespace)
	f.apply("first", 1)
	f.view("first", running(1))

	// As a reflector begins: the present views, then a bookmark.
	streaming, err := views.Watch(t.Context(), metav1.ListOptions{
		SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer streaming.Stop()
	if event := f.next(streaming); event.Type != watch.Added {
		t.Errorf("first event %v", event)
	}
	event := f.next(streaming)
	bookmark, ok := event.Object.(*v1alpha1.ApplicationRuntime)
	if event.Type != watch.Bookmark || !ok || bookmark.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
		t.Fatalf("event after the views: %v", event)
	}

	f.apply("second", 1)
	f.view("second", running(1))
	f.untilEvent(streaming, func(kind watch.EventType, view *v1alpha1.ApplicationRuntime) bool {
		return kind != watch.Deleted && view.Name == "second" && view.Pods.Ready == 1
	})

	// Resumed from the bookmark, nothing is missing.
	resumed, err := views.Watch(t.Context(), metav1.ListOptions{ResourceVersion: bookmark.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer resumed.Stop()
	var added bool
	f.untilEvent(resumed, func(kind watch.EventType, view *v1alpha1.ApplicationRuntime) bool {
		added = added || kind == watch.Added && view.Name == "second"
		return view.Name == "second" && view.Pods.Ready == 1
	})
	if !added {
		t.Error("after the bookmark the second view was not added")
	}

	// An object that stops matching the selector is deleted for the watch.
	labelled, err := views.Watch(t.Context(), metav1.ListOptions{LabelSelector: "team=second"})
	if err != nil {
		t.Fatal(err)
	}
	defer labelled.Stop()
	if event := f.next(labelled); event.Type != watch.Added {
		t.Errorf("first event with a selector: %v", event)
	}
	if _, err := f.fairlead.AppsV1().Applications(f.namespace).Patch(t.Context(), "second", types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"other"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	f.untilEvent(labelled, func(kind watch.EventType, _ *v1alpha1.ApplicationRuntime) bool { return kind == watch.Deleted })

	if _, err := views.Watch(t.Context(), metav1.ListOptions{ResourceVersion: "1"}); code(err) != 410 {
		t.Errorf("a version of another process: %v, want 410", err)
	}
}
