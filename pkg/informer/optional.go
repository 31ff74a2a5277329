// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/pkg/child"
)

// ServedHandler is called with the Applications concerned when an optional kind becomes available or unavailable.
type ServedHandler func(kind child.Kind, applications []cache.ObjectName)

// optional has the caches of a kind of child whose API comes and goes. While the cluster serves the API, each scope
// has an informer. When the API goes, the informers stop with all their goroutines, since a reflector would retry for
// ever. An informer runs only once, so each life of the API has its own.
type optional struct {
	kind   child.Kind
	scopes []string // namespaces
	// open creates the cache of a scope, once for each life of the API.
	open      func(namespace string) (*children, error)
	permitted Access
	// instrumentations are by namespace, and last for all lives. It is nil if recording is disabled.
	instrumentations map[string]*instrumentation
	// concerned returns the Applications that have, or may want, a child of the kind.
	concerned func(kind child.Kind) []cache.ObjectName

	children ChildHandler
	served   ServedHandler

	api *apiWatcher
	// decided is closed when the first availability is known.
	decided chan struct{}
	decide  func()

	mu sync.RWMutex
	// live has the synced caches by namespace. While it is nil, unserved has the reason.
	live     map[string]*children
	unserved child.Unavailable
}

// listTimeout is how long the controller waits for the first list of a kind that it can do without for a while. A
// kind that the API server cannot list must not stop all other work. A broken conversion webhook causes that, or one
// Secret that cannot be decrypted.
const listTimeout = 30 * time.Second

func newOptional(kind child.Kind, scopes []string, api *apiWatcher, permitted Access) *optional {
	decided := make(chan struct{})
	return &optional{
		kind: kind, scopes: scopes, permitted: permitted, api: api,
		served:   func(child.Kind, []cache.ObjectName) {},
		decided:  decided,
		decide:   sync.OnceFunc(func() { close(decided) }),
		unserved: notServed(kind),
	}
}

func notServed(kind child.Kind) child.Unavailable {
	advice := "install the Gateway API, or set type: Ingress in the route, without what only an HTTPRoute has, such as parentRefs"
	if kind == child.ServiceMonitor {
		advice = "install the Prometheus Operator, or remove spec.monitoring"
	}
	return child.Unavailable{Message: fmt.Sprintf("the cluster does not serve %s of %s: %s", kind, kind.GroupVersionKind().GroupVersion(), advice)}
}

func notPermitted(kind child.Kind) child.Unavailable {
	return child.Unavailable{Message: fmt.Sprintf("the controller has no permission to get, list and watch %s.%s", kind.Resource, kind.Group), MayExist: true}
}

func notListed(kind child.Kind) child.Unavailable {
	return child.Unavailable{Message: fmt.Sprintf("the API server cannot list %s.%s; see the log of the controller", kind.Resource, kind.Group), ListFailed: true, MayExist: true}
}

// Name and Done implement cache.DoneChecker: the controller waits for it before it uses the caches.

func (o *optional) Name() string          { return "optional " + o.kind.Resource }
func (o *optional) Done() <-chan struct{} { return o.decided }

// run follows the API until ctx ends, and returns when everything that it started has stopped.
func (o *optional) run(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { o.api.run(ctx) })
	present, stop := "", func() {}
	defer func() { stop() }() //nolint:gocritic // Not the stop of now: it changes below.
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.api.changed:
		}
		instance := o.api.present()
		if instance == present && instance != "" {
			continue
		}
		// Unpublish the caches before they stop.
		o.publish(ctx, nil, notServed(o.kind), instance == "")
		stop()
		present, stop = instance, func() {}
		if instance != "" {
			stop = o.start(ctx)
		}
	}
}

// start starts to fill new caches. The returned function stops them, whether they have synced or not.
func (o *optional) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { o.fill(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

func (o *optional) fill(ctx context.Context) {
	logger := klog.FromContext(ctx).WithValues("resource", o.kind.Resource)
	if permitted := o.canWatch(ctx); ctx.Err() != nil {
		return
	} else if !permitted {
		logger.Info("No permission to get, list and watch an optional API; grant it and restart")
		o.publish(ctx, nil, notPermitted(o.kind), true)
		return
	}
	live := make(map[string]*children, len(o.scopes))
	var synced []cache.DoneChecker
	defer func() {
		for _, instrumentation := range o.instrumentations {
			instrumentation.end()
		}
	}()
	for _, namespace := range o.scopes {
		c, registered, err := o.prepare(namespace)
		if err != nil {
			logger.Error(err, "Cannot watch an optional API") // This is a bug: it does not depend on the cluster.
			return
		}
		live[namespace], synced = c, append(synced, registered)
	}
	var running sync.WaitGroup
	defer running.Wait()
	for _, c := range live {
		running.Go(func() { c.informer.RunWithContext(ctx) })
	}
	if !waitForList(ctx, synced...) && ctx.Err() == nil {
		logger.Info("List timed out; continuing without the optional API and retrying", "waited", listTimeout)
		o.publish(ctx, nil, notListed(o.kind), true)
	}
	if cache.WaitFor(ctx, "", synced...) {
		o.publish(ctx, live, child.Unavailable{}, true)
	}
}

// waitForList waits until the caches have synced, for at most listTimeout.
func waitForList(ctx context.Context, synced ...cache.DoneChecker) bool {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return cache.WaitFor(ctx, "", synced...)
}

// prepare creates the cache of a scope and registers its handler.
func (o *optional) prepare(namespace string) (*children, cache.DoneChecker, error) {
	c, err := o.open(namespace)
	if err != nil {
		return nil, nil, err
	}
	registration, err := c.handle(instrumentedChildHandler(o.instrumentations[namespace], o.children))
	if err != nil {
		return nil, nil, fmt.Errorf("handle %s: %w", o.kind, err)
	}
	return c, registration.HasSyncedChecker(), c.informer.SetWatchErrorHandlerWithContext(o.watchError)
}

// canWatch reports whether the controller may watch every scope. One forbidden scope would keep all of them from
// syncing.
func (o *optional) canWatch(ctx context.Context) bool {
	for _, namespace := range o.scopes {
		if !waitForAccess(ctx, o.permitted, o.kind.GroupVersionResource().GroupResource(), namespace) {
			return false
		}
	}
	return true
}

// watchError handles a failed list or watch. A 404 means that the API has gone, or that one of several API servers
// lags behind. The watch of the definition decides.
func (o *optional) watchError(ctx context.Context, reflector *cache.Reflector, err error) {
	if apierrors.IsNotFound(err) {
		klog.FromContext(ctx).V(2).Info("Optional API not found; checking whether it is still served", "resource", o.kind.Resource)
		o.api.recheck()
		return
	}
	reportWatchError(o.kind.Resource)(ctx, reflector, err)
}

// publish makes the caches available to syncs, or the reason why there are none. final means that no further change
// is already on its way.
func (o *optional) publish(ctx context.Context, live map[string]*children, unserved child.Unavailable, final bool) {
	o.mu.Lock()
	changed := (o.live == nil) != (live == nil) || o.unserved != unserved
	o.live, o.unserved = live, unserved
	o.mu.Unlock()
	if changed {
		klog.FromContext(ctx).Info("Optional API availability changed", "resource", o.kind.Resource, "group", o.kind.Group, "available", live != nil, "reason", unserved.Message)
	}
	if final {
		o.decide()
	}
	if changed {
		o.served(o.kind, o.concerned(o.kind))
	}
}

// in returns the cache of a scope, or the reason why there is none.
func (o *optional) in(namespace string) (*children, child.Unavailable) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.live[namespace], o.unserved
}

// Unavailable returns the optional kinds that the controller cannot read or write now, with the reasons. Call it
// before Children, so that Children has the caches of every kind that is missing from the result.
func (i *Informers) Unavailable() map[child.Kind]child.Unavailable {
	unserved := map[child.Kind]child.Unavailable{}
	for _, kind := range child.OptionalKinds() {
		unserved[kind] = notServed(kind)
	}
	for _, o := range i.optional {
		if _, why := o.in(metav1.NamespaceAll); why != (child.Unavailable{}) {
			unserved[o.kind] = why
		} else {
			delete(unserved, o.kind)
		}
	}
	return unserved
}

// HandleServed registers the handler. Call it once, before Start.
func (i *Informers) HandleServed(handler ServedHandler) {
	for _, o := range i.optional {
		o.served = handler
	}
}

// concerned returns the Applications of all scopes that have, or may want, a child of the kind.
func (i *Informers) concerned(kind child.Kind) []cache.ObjectName {
	var names []cache.ObjectName
	for _, s := range i.scopes {
		found, err := s.applications.GetTypedIndexer().ByTypedIndex(byOptionalKind, kind.Kind)
		if err != nil {
			return nil // Cannot happen: newScope adds the index.
		}
		for _, application := range found {
			names = append(names, cache.MetaObjectToName(application))
		}
	}
	return names
}

// definitionName returns the name of the CustomResourceDefinition of a kind.
func definitionName(kind child.Kind) string {
	return kind.Resource + "." + kind.Group
}
