// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// applicationsGVR is the resource under which the consistency store knows Applications.
var applicationsGVR = v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)

// ApplicationHandler handles the events of Applications. It must return quickly.
type ApplicationHandler = cache.TypedResourceEventHandler[*v1.Application]

// Options configure what the controller watches.
type Options struct {
	// Namespaces are the namespaces to watch. Empty means all, with one watch per kind.
	Namespaces []string
	// Resync is how often every Application is synced although nothing changed; 0 disables it. Correctness does
	// not depend on it.
	Resync time.Duration
	// Metadata is the client that watches the ConfigMaps and Secrets to which Applications refer. It reads no
	// content.
	Metadata metadata.Interface
	// Access reports which of them the controller may watch.
	Access Access
	// WithoutClasses disables ApplicationClasses.
	WithoutClasses bool
	// WithoutNamespaces is for a controller that may not read namespaces. Such a controller does not know which
	// namespaces a class selects.
	WithoutNamespaces bool
	// Debug records what the informers do; nil disables recording.
	Debug *debug.Recorder
	// Optional has the clients of kinds whose APIs come and go. The zero value disables them.
	Optional OptionalAPIs
}

// managedSelector restricts the caches of children to objects that Fairlead created.
const managedSelector = v1.LabelManagedBy + "=" + v1.ManagedBy

// Informers are the caches of the Applications and their children.
type Informers struct {
	// scopes has one entry per watched namespace, or a single one for metav1.NamespaceAll.
	scopes     map[string]*scope
	classes    *classes
	namespaces *namespaces
	// optional are the caches of kinds whose APIs come and go.
	optional []*optional
	// waiting are the goroutines of references, which wait until they are activated, and of optional.
	waiting sync.WaitGroup
}

// New creates the informers. None runs before Start.
func New(kube kubernetes.Interface, fairlead versioned.Interface, options Options) (*Informers, error) {
	namespaces := options.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	i := &Informers{scopes: make(map[string]*scope, len(namespaces))}
	for _, namespace := range namespaces {
		s, err := newScope(kube, fairlead, namespace, options)
		if err != nil {
			return nil, err
		}
		i.scopes[namespace] = s
	}
	if err := i.newOptionals(namespaces, options); err != nil {
		return nil, err
	}
	if options.WithoutClasses {
		return i, nil
	}
	var err error
	if i.classes, err = newClasses(fairlead, options.Debug); err != nil {
		return nil, err
	}
	if options.WithoutNamespaces {
		return i, nil
	}
	if i.namespaces, err = newNamespaces(kube); err != nil {
		return nil, err
	}
	return i, nil
}

// Handle registers the handlers and returns what to wait for before using the caches: the registrations, not the
// informers, because the handlers of a synced informer may still lag behind. Call it before Start.
func (i *Informers) Handle(applications ApplicationHandler, childHandler ChildHandler) ([]cache.DoneChecker, error) {
	var synced []cache.DoneChecker
	for _, s := range i.scopes {
		registration, err := s.applications.AddTypedEventHandler(instrumentedHandler(s.instrumentation.resource(applicationsGVR, roleApplications), applications))
		if err != nil {
			return nil, fmt.Errorf("handle Applications: %w", err)
		}
		synced = append(synced, registration.HasSyncedChecker())
		for _, c := range s.children {
			registration, err := c.handle(instrumentedChildHandler(s.instrumentation, childHandler))
			if err != nil {
				return nil, fmt.Errorf("handle %s: %w", c.kind, err)
			}
			synced = append(synced, registration.HasSyncedChecker())
		}
	}
	for _, o := range i.optional {
		o.children = childHandler
		synced = append(synced, o)
	}
	return synced, nil
}

// Start starts all informers. They stop when ctx ends; Shutdown waits for that.
func (i *Informers) Start(ctx context.Context) {
	i.classes.start(ctx)
	i.namespaces.start(ctx)
	for _, s := range i.scopes {
		s.fairlead.StartWithContext(ctx)
		s.kube.StartWithContext(ctx)
		s.pods.factory.StartWithContext(ctx)
		for _, r := range s.references {
			i.waiting.Go(func() { r.run(ctx) })
		}
	}
	for _, o := range i.optional {
		i.waiting.Go(func() { o.run(ctx) })
	}
}

// Shutdown waits until all informers have stopped. The context of Start must have ended.
func (i *Informers) Shutdown() {
	i.classes.shutdown()
	i.namespaces.shutdown()
	for _, s := range i.scopes {
		s.fairlead.Shutdown()
		s.kube.Shutdown()
		s.pods.factory.Shutdown()
	}
	i.waiting.Wait()
	for _, s := range i.scopes {
		s.instrumentation.end()
		s.name.Release()
	}
}
