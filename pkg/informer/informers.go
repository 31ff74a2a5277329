// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	externalversions "fairlead.dev/fairlead/pkg/generated/informers/externalversions"
	"fairlead.dev/fairlead/pkg/reference"
)

// applicationsGVR is how the consistency store names the cache of Applications.
var applicationsGVR = v1.SchemeGroupVersion.WithResource(v1.ApplicationResource)

// ApplicationHandler handles the events of Applications. It must return quickly.
type ApplicationHandler = cache.TypedResourceEventHandler[*v1.Application]

// Options choose what is watched.
type Options struct {
	// Namespaces to watch. Empty: all, with one watch per kind.
	Namespaces []string
	// Resync is how often every Application is synced although nothing changed; 0 disables it. Correctness does
	// not depend on it.
	Resync time.Duration
	// Metadata is the client that watches what Applications refer to. It reads no content.
	Metadata metadata.Interface
	// Access reports which of those resources the controller may watch.
	Access Access
	// WithoutClasses disables ApplicationClasses.
	WithoutClasses bool
	// WithoutNamespaces is for a controller that may not read namespaces. It cannot tell which namespaces a class
	// selects.
	WithoutNamespaces bool
	// Debug records what the informers do; nil disables recording.
	Debug *debug.Recorder
	// Optional has the clients of kinds whose APIs come and go. The zero value disables them.
	Optional OptionalAPIs
}

// managedSelector restricts the caches of children to those that Fairlead made.
const managedSelector = v1.LabelManagedBy + "=" + v1.ManagedBy

// Informers are the caches of the Applications and their children.
type Informers struct {
	// scopes has one entry per watched namespace, or the one of metav1.NamespaceAll.
	scopes map[string]*scope
	// classes are the ApplicationClasses, which are in no namespace.
	classes *classes
	// namespaces have the labels by which classes select.
	namespaces *namespaces
	// optional are the caches of kinds whose APIs come and go.
	optional []*optional
	// waiting are the goroutines of references, which wait until they are activated, and of optional.
	waiting sync.WaitGroup
}

// scope is one set of informers: those of one namespace, or of all.
type scope struct {
	namespace       string
	fairlead        externalversions.SharedInformerFactory
	kube            informers.SharedInformerFactory
	applications    cache.TypedSharedIndexInformer[*v1.Application]
	children        []*children
	pods            *pods
	references      map[reference.Kind]*references
	referrers       *referrers
	instrumentation *instrumentation
	// name is the name of the informers in their metrics.
	name *cache.InformerName
}

// New returns the informers. Nothing runs before Start.
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

func newScope(kube kubernetes.Interface, fairlead versioned.Interface, namespace string, options Options) (*scope, error) {
	instrumentation := newInstrumentation(options.Debug, namespace)
	if err := instrumentation.begin(); err != nil {
		return nil, err
	}
	name := informerName(namespace)
	s := &scope{
		instrumentation: instrumentation,
		name:            name,
		namespace:       namespace,
		fairlead: externalversions.NewSharedInformerFactoryWithOptions(fairlead, options.Resync,
			externalversions.WithNamespace(namespace),
			externalversions.WithInformerName(name),
			externalversions.WithTransform(trimApplication)),
		// Children need no resync: the resync of their Application covers them.
		kube: informers.NewSharedInformerFactoryWithOptions(kube, 0,
			informers.WithNamespace(namespace),
			informers.WithInformerName(name),
			informers.WithTransform(encodeChild),
			informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = managedSelector })),
	}
	recordApplications(instrumentation, s.fairlead)
	recordChildren(instrumentation, s.kube, managedSelector)
	s.applications = s.fairlead.Apps().V1().Applications().TypedInformer()
	for _, indexers := range []cache.Indexers{RouteIndexers(), classIndexers(), optionalKindIndexers()} {
		if err := s.applications.AddIndexers(indexers); err != nil {
			return nil, fmt.Errorf("index Applications: %w", err)
		}
	}
	children, err := newChildren(s.kube)
	if err != nil {
		return nil, err
	}
	s.children = children
	if s.pods, err = newPods(kube, namespace, name, instrumentation); err != nil {
		return nil, err
	}
	if err := s.addReferences(namespace, options); err != nil {
		return nil, err
	}
	return s, s.reportWatchErrors()
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

// Start starts all informers; they stop when ctx ends. Wait with Shutdown until they have.
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

// Application returns the cached Application. The cache owns it: never change it.
func (i *Informers) Application(name cache.ObjectName) (*v1.Application, bool, error) {
	s, found := i.scope(name.Namespace)
	if !found {
		return nil, false, nil
	}
	object, exists, err := s.applications.GetStore().GetByKey(name.String())
	if err != nil || !exists {
		return nil, false, err
	}
	application, ok := object.(*v1.Application)
	if !ok {
		return nil, false, fmt.Errorf("the cache of Applications has a %T", object)
	}
	return application, true, nil
}

// Children returns the cached children that carry the Application's label or ownerReference. Each call decodes
// them, so the caller owns them.
func (i *Informers) Children(application cache.ObjectName) (map[child.Ref]child.Object, error) {
	s, found := i.scope(application.Namespace)
	if !found {
		return nil, nil
	}
	all := map[child.Ref]child.Object{}
	for _, c := range i.childrenIn(s) {
		objects, err := c.of(application)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			all[child.Ref{Kind: c.kind, Namespace: object.GetNamespace(), Name: object.GetName()}] = object
		}
	}
	return all, nil
}

// LastResourceVersion and HasLive implement consistency.Caches.

// LastResourceVersion returns the newest resourceVersion that the cache of the resource has observed.
func (i *Informers) LastResourceVersion(resource schema.GroupVersionResource, namespace string) string {
	informer, found := i.informer(resource, namespace)
	if !found {
		return ""
	}
	return informer.GetStore().LastStoreSyncResourceVersion()
}

// HasLive reports whether the cache has an object of this name with this UID that is not being deleted.
func (i *Informers) HasLive(resource schema.GroupVersionResource, object cache.ObjectName, uid types.UID) bool {
	informer, found := i.informer(resource, object.Namespace)
	return found && hasLive(informer, object, uid)
}

func (i *Informers) informer(resource schema.GroupVersionResource, namespace string) (cache.SharedIndexInformer, bool) {
	s, found := i.scope(namespace)
	if !found {
		return nil, false
	}
	if resource == applicationsGVR {
		return s.applications, true
	}
	for _, c := range i.childrenIn(s) {
		if c.kind.GroupVersionResource() == resource {
			return c.informer, true
		}
	}
	return nil, false
}

// childrenIn returns the caches of children that a scope has now.
func (i *Informers) childrenIn(s *scope) []*children {
	all := slices.Clip(s.children)
	for _, o := range i.optional {
		if c, _ := o.in(s.namespace); c != nil {
			all = append(all, c)
		}
	}
	return all
}

func (i *Informers) scope(namespace string) (*scope, bool) {
	if s, found := i.scopes[metav1.NamespaceAll]; found {
		return s, true
	}
	s, found := i.scopes[namespace]
	return s, found
}

// reportWatchErrors lets every informer of the scope log why it cannot list or watch.
func (s *scope) reportWatchErrors() error {
	if err := s.applications.SetWatchErrorHandlerWithContext(reportWatchError(v1.ApplicationResource)); err != nil {
		return fmt.Errorf("set watch error handler for Applications: %w", err)
	}
	for _, c := range s.children {
		if err := c.informer.SetWatchErrorHandlerWithContext(reportWatchError(c.kind.Resource)); err != nil {
			return fmt.Errorf("set watch error handler for %s: %w", c.kind, err)
		}
	}
	return nil
}

// reportWatchError logs an error, with what to do about it if that is known. The reflector retries with backoff.
func reportWatchError(resource string) cache.WatchErrorHandlerWithContext {
	return func(ctx context.Context, reflector *cache.Reflector, err error) {
		logger := klog.FromContext(ctx).WithValues("resource", resource)
		switch {
		case apierrors.IsForbidden(err):
			logger.Error(err, "No permission to watch; grant list and watch on the resource")
		case apierrors.IsNotFound(err):
			logger.Error(err, "API not found; install the CRDs of Fairlead with 'make install'")
		default:
			cache.DefaultWatchErrorHandler(ctx, reflector, err)
		}
	}
}
