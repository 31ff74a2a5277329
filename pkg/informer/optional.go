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

// ServedHandler is told that a kind of child can be looked at from now on, or not any more, and which
// Applications that concerns.
type ServedHandler func(kind child.Kind, applications []cache.ObjectName)

// optional are the caches of a kind of child whose API comes and goes. While it is served there is an
// informer for each scope. When it goes they stop, all their goroutines included: a reflector would
// ask for ever. An informer runs only once, so each time has its own.
type optional struct {
	kind   child.Kind
	scopes []string // the namespaces
	// open makes the cache of a scope, once for each life of the API.
	open      func(namespace string) (*children, error)
	permitted Access
	// recordings are by namespace, and last for all lives. There are none if nobody wants to know.
	recordings map[string]*recording
	// concerned finds the Applications that have, or may want, a child of the kind.
	concerned func(kind child.Kind) []cache.ObjectName

	children ChildHandler
	served   ServedHandler

	api *api
	// decided is closed when it is known for the first time whether there are caches.
	decided chan struct{}
	decide  func()

	mu sync.RWMutex
	// live has the caches by namespace, filled, or unserved says why there are none.
	live     map[string]*children
	unserved child.Unserved
}

// listPatience is how long the controller waits for the first list of a kind that it can do without for a while. One that the
// API server does not list, as when a conversion webhook is down or one Secret cannot be decrypted, must not keep it from
// all other work.
const listPatience = 30 * time.Second

func newOptional(kind child.Kind, scopes []string, api *api, permitted Access) *optional {
	decided := make(chan struct{})
	return &optional{
		kind: kind, scopes: scopes, permitted: permitted, api: api,
		served:   func(child.Kind, []cache.ObjectName) {},
		decided:  decided,
		decide:   sync.OnceFunc(func() { close(decided) }),
		unserved: notServed(kind),
	}
}

func notServed(kind child.Kind) child.Unserved {
	return child.Unserved{Why: fmt.Sprintf("the cluster does not serve %s of %s", kind, kind.GroupVersionKind().GroupVersion())}
}

func notPermitted(kind child.Kind) child.Unserved {
	return child.Unserved{Why: fmt.Sprintf("the controller may not get, list and watch %s.%s", kind.Resource, kind.Group), MayExist: true}
}

func notListed(kind child.Kind) child.Unserved {
	return child.Unserved{Why: fmt.Sprintf("the cluster serves %s.%s, but does not list them; the controller's log has the error", kind.Resource, kind.Group), Unlisted: true, MayExist: true}
}

// Name and Done make it a cache.DoneChecker: what to wait for before the caches may be used.

func (o *optional) Name() string          { return "optional " + o.kind.Resource }
func (o *optional) Done() <-chan struct{} { return o.decided }

// run follows the API until ctx ends, and returns when everything that it started has ended.
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
		// First nobody looks at the caches any more, then they stop.
		o.publish(ctx, nil, notServed(o.kind), instance == "")
		stop()
		present, stop = instance, func() {}
		if instance != "" {
			stop = o.start(ctx)
		}
	}
}

// start fills new caches. The returned function ends them, filled or not.
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
	if permitted := o.mayWatch(ctx); ctx.Err() != nil {
		return
	} else if !permitted {
		logger.Info("The API is served, but there is no permission to get, list and watch it; grant that and restart")
		o.publish(ctx, nil, notPermitted(o.kind), true)
		return
	}
	live := make(map[string]*children, len(o.scopes))
	var synced []cache.DoneChecker
	defer func() {
		for _, recording := range o.recordings {
			recording.end()
		}
	}()
	for _, namespace := range o.scopes {
		c, registered, err := o.prepare(namespace)
		if err != nil {
			logger.Error(err, "Cannot watch") // A defect: nothing of it depends on the cluster.
			return
		}
		live[namespace], synced = c, append(synced, registered)
	}
	var running sync.WaitGroup
	defer running.Wait()
	for _, c := range live {
		running.Go(func() { c.informer.RunWithContext(ctx) })
	}
	if !listedSoon(ctx, synced...) && ctx.Err() == nil {
		logger.Info("The API is served, but not listed; going on without it until it is", "waited", listPatience)
		o.publish(ctx, nil, notListed(o.kind), true)
	}
	if cache.WaitFor(ctx, "", synced...) {
		o.publish(ctx, live, child.Unserved{}, true)
	}
}

// listedSoon waits for caches to be filled, but not for ever.
func listedSoon(ctx context.Context, synced ...cache.DoneChecker) bool {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	return cache.WaitFor(ctx, "", synced...)
}

// prepare makes the cache of a scope, with its handler.
func (o *optional) prepare(namespace string) (*children, cache.DoneChecker, error) {
	c, err := o.open(namespace)
	if err != nil {
		return nil, nil, err
	}
	registration, err := c.handle(recordedChildHandler(o.recordings[namespace], o.children))
	if err != nil {
		return nil, nil, fmt.Errorf("handle %s: %w", o.kind, err)
	}
	return c, registration.HasSyncedChecker(), c.informer.SetWatchErrorHandlerWithContext(o.watchError)
}

// mayWatch asks for every scope; one that may not be watched would keep all from being filled.
func (o *optional) mayWatch(ctx context.Context) bool {
	for _, namespace := range o.scopes {
		if !untilKnown(ctx, o.permitted, o.kind.GroupVersionResource().GroupResource(), namespace) {
			return false
		}
	}
	return true
}

// watchError: a 404 means that the API is gone, or that an API server of several lags. The watch of
// the definition knows, and ends this.
func (o *optional) watchError(ctx context.Context, reflector *cache.Reflector, err error) {
	if apierrors.IsNotFound(err) {
		klog.FromContext(ctx).V(2).Info("The API is not served at the moment", "resource", o.kind.Resource)
		o.api.doubt()
		return
	}
	reportWatchError(o.kind.Resource)(ctx, reflector, err)
}

// publish makes the caches, or the reason why there are none, what syncs see. final is what nothing is
// about to follow: then it is decided, and who is concerned hears of it.
func (o *optional) publish(ctx context.Context, live map[string]*children, unserved child.Unserved, final bool) {
	o.mu.Lock()
	changed := (o.live == nil) != (live == nil) || o.unserved != unserved
	o.live, o.unserved = live, unserved
	o.mu.Unlock()
	if changed {
		klog.FromContext(ctx).Info("An optional API came or went", "resource", o.kind.Resource, "group", o.kind.Group, "watched", live != nil, "reason", unserved.Why)
	}
	if final {
		o.decide()
	}
	if changed {
		o.served(o.kind, o.concerned(o.kind))
	}
}

// in returns the cache of a scope, or why there is none.
func (o *optional) in(namespace string) (*children, child.Unserved) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.live[namespace], o.unserved
}

// Unserved returns the optional kinds of which nothing can be known or written now, each with the
// reason. Ask it before Children: what is served then was served before.
func (i *Informers) Unserved() map[child.Kind]child.Unserved {
	unserved := map[child.Kind]child.Unserved{}
	for _, kind := range child.OptionalKinds() {
		unserved[kind] = notServed(kind)
	}
	for _, o := range i.optional {
		if _, why := o.in(metav1.NamespaceAll); why != (child.Unserved{}) {
			unserved[o.kind] = why
		} else {
			delete(unserved, o.kind)
		}
	}
	return unserved
}

// HandleServed registers the handler. Call it before Start, and once.
func (i *Informers) HandleServed(handler ServedHandler) {
	for _, o := range i.optional {
		o.served = handler
	}
}

// concerned finds the Applications of all scopes that have, or may want, a child of the kind.
func (i *Informers) concerned(kind child.Kind) []cache.ObjectName {
	var names []cache.ObjectName
	for _, s := range i.scopes {
		found, err := s.applications.GetTypedIndexer().ByTypedIndex(byOptionalKind, kind.Kind)
		if err != nil {
			return nil // There is no such index; newScope has made it.
		}
		for _, application := range found {
			names = append(names, cache.MetaObjectToName(application))
		}
	}
	return names
}

// definitionName is that of the CustomResourceDefinition of a kind.
func definitionName(kind child.Kind) string {
	return kind.Resource + "." + kind.Group
}
