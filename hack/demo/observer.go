// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	externalversions "fairlead.dev/fairlead/pkg/generated/informers/externalversions"
	appsinformers "fairlead.dev/fairlead/pkg/generated/informers/externalversions/apps/v1"
)

// observer sees the Applications of a namespace and their Events, by informers. Nobody has to ask the API server how
// things stand: it is told.
type observer struct {
	fairlead externalversions.SharedInformerFactory
	kube     informers.SharedInformerFactory

	mu           sync.Mutex
	applications map[string]*v1.Application
	events       map[string]*eventsv1.Event
	changed      chan struct{} // closed at the next change
	listeners    map[int]func(before, after *v1.Application)
	lastListener int
}

// observe starts to watch and returns when the first list is in. The watch ends with ctx; then call close.
func observe(ctx context.Context, c *clients, namespace string) (*observer, error) {
	o := &observer{
		fairlead: externalversions.NewSharedInformerFactoryWithOptions(c.fairlead, 0, externalversions.WithNamespace(namespace)),
		kube: informers.NewSharedInformerFactoryWithOptions(c.kube, 0, informers.WithNamespace(namespace),
			informers.WithTweakListOptions(func(options *metav1.ListOptions) {
				options.FieldSelector = "regarding.kind=" + v1.ApplicationKind
			})),
		applications: map[string]*v1.Application{},
		events:       map[string]*eventsv1.Event{},
		changed:      make(chan struct{}),
		listeners:    map[int]func(before, after *v1.Application){},
	}
	applications, err := o.fairlead.Apps().V1().Applications().TypedInformer().AddTypedEventHandler(appsinformers.ApplicationHandlerFuncs{
		AddFunc:    func(application *v1.Application) { o.sawApplication(application) },
		UpdateFunc: func(_, application *v1.Application) { o.sawApplication(application) },
		DeleteFunc: func(application appsinformers.DeletedApplication) {
			o.lostApplication(application.GetObjectName().Name)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("watch Applications: %w", err)
	}
	events, err := o.kube.Events().V1().Events().TypedInformer().AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*eventsv1.Event]{
		AddFunc:    func(event *eventsv1.Event) { o.sawEvent(event) },
		UpdateFunc: func(_, event *eventsv1.Event) { o.sawEvent(event) },
	})
	if err != nil {
		return nil, fmt.Errorf("watch Events: %w", err)
	}
	o.fairlead.StartWithContext(ctx)
	o.kube.StartWithContext(ctx)
	// The registrations, not the informers: a handler may lag behind its informer.
	if !cache.WaitFor(ctx, "", applications.HasSyncedChecker(), events.HasSyncedChecker()) {
		return o, context.Cause(ctx)
	}
	return o, nil
}

// close waits until the informers have stopped. The context of observe must have ended.
func (o *observer) close() {
	o.fairlead.Shutdown()
	o.kube.Shutdown()
}

// sawApplication tells the listeners first: when somebody who waited goes on, everything that led there has been told.
// The informer calls it for one change after the other.
func (o *observer) sawApplication(application *v1.Application) {
	o.mu.Lock()
	before := o.applications[application.Name]
	listeners := slices.Collect(maps.Values(o.listeners))
	o.mu.Unlock()
	for _, listener := range listeners {
		listener(before, application)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.applications[application.Name] = application
	o.wake()
}

func (o *observer) lostApplication(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.applications, name)
	o.wake()
}

func (o *observer) sawEvent(event *eventsv1.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events[event.Name] = event
	o.wake()
}

// wake lets those who wait look again. The lock must be held.
func (o *observer) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// listen calls the listener for each change of an Application from now on, one after the other, until stop is called.
func (o *observer) listen(listener func(before, after *v1.Application)) (stop func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lastListener++
	id := o.lastListener
	o.listeners[id] = listener
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.listeners, id)
	}
}

// list returns the Applications of these names, or all for none, by name. They are those of the cache: read-only.
func (o *observer) list(names ...string) []*v1.Application {
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []*v1.Application
	for _, application := range o.applications {
		if len(names) == 0 || slices.Contains(names, application.Name) {
			list = append(list, application)
		}
	}
	slices.SortFunc(list, func(a, b *v1.Application) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// event returns an Event that fits, or nil.
func (o *observer) event(fits func(*eventsv1.Event) bool) *eventsv1.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, event := range o.events {
		if fits(event) {
			return event
		}
	}
	return nil
}

// wait returns when done does, which is asked now and after each change; or with the reason for which ctx ended.
func (o *observer) wait(ctx context.Context, done func() bool) error {
	for {
		o.mu.Lock()
		changed := o.changed
		o.mu.Unlock()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
