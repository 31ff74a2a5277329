// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// grants are the host names and paths that a sync has granted to its Application, and that no cache shows as served yet.
// Without them two concurrent syncs could both find a host name free, and both serve it from then on. A grant counts as
// served.
type grants struct {
	informers *informer.Informers
	claimants claimants
	// mu makes it atomic to find a host name free and to take it.
	mu     sync.Mutex
	routes cache.Indexer
}

// grant has the routes that one Application may be about to write.
type grant struct {
	application *v1.Application
	keys        []v1.RouteKey
}

var _ informer.Routed = (*grant)(nil)

func (g *grant) GetNamespace() string     { return g.application.Namespace }
func (g *grant) RouteKeys() []v1.RouteKey { return g.keys }

func (g *grant) EachHost(f func(host string) bool) {
	for _, key := range g.keys {
		if !f(key.Host) {
			return
		}
	}
}

func newGrants(informers *informer.Informers, enqueue func(cache.ObjectName, workqueue.Trigger)) *grants {
	g := &grants{informers: informers, routes: cache.NewIndexer(grantKey, informer.RouteIndexers())}
	g.claimants = claimants{claims: g.hostClaims, owners: g.owners, enqueue: enqueue}
	return g
}

func grantKey(object any) (string, error) {
	g, ok := object.(*grant)
	if !ok {
		return "", fmt.Errorf("%T is no grant", object)
	}
	return cache.MetaObjectToName(g.application).String(), nil
}

// take returns why the Application must not have its routes, or grants them. The caches must have observed the writes of the
// Application's last sync: they show what it serves now, so its last grant is obsolete.
func (g *grants) take(application *v1.Application) (field.ErrorList, error) {
	if _, granted, _ := g.routes.GetByKey(cache.MetaObjectToName(application).String()); !granted && len(application.Spec.Routes) == 0 {
		return nil, nil // Without routes it need not wait for the lock.
	}
	classes, err := g.informers.Classes()
	if err != nil {
		return nil, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(cache.MetaObjectToName(application), application.RouteKeys())
	errs, err := validation.ValidateRouteOwnership(application, g.ownersAmong(classes))
	if err != nil || len(errs) > 0 || application.Spec.ReconcilePolicy == v1.ReconcileObserve {
		return errs, err // Observe writes no route.
	}
	unserved, err := g.unserved(application)
	if errs := g.servedUnseen(application, unserved, classes); err == nil && len(errs) > 0 {
		return errs, nil
	}
	if err == nil && len(unserved) > 0 {
		err = g.routes.Update(&grant{application: application, keys: unserved})
	}
	return nil, err
}

// owners decides who owns a host name, with the classes of the cache.
func (g *grants) owners() (validation.RouteOwners, error) {
	classes, err := g.informers.Classes()
	if err != nil {
		return validation.RouteOwners{}, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	return g.ownersAmong(classes), nil
}

func (g *grants) ownersAmong(classes []*v1.ApplicationClass) validation.RouteOwners {
	return validation.RouteOwners{
		HostClaims:  g.hostClaims,
		RouteClaims: g.routeClaims,
		Class:       func(a *v1.Application) *v1.ApplicationClass { return g.classOf(a, classes) },
	}
}

// classOf returns nil if the class is unknown. Then no host name is shared.
func (g *grants) classOf(application *v1.Application, classes []*v1.ApplicationClass) *v1.ApplicationClass {
	namespace, err := namespaceOf(g.informers, application.Namespace, classes)
	if err != nil {
		return nil
	}
	return class.Choose(application, class.Rules{Classes: classes, Namespace: namespace})
}

// forget drops the grant of an Application that no longer asks for routes.
func (g *grants) forget(key cache.ObjectName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(key, nil)
}

// drop removes a grant, and queues the Applications that were refused because of it. asked are the routes that the
// Application is about to get again.
func (g *grants) drop(key cache.ObjectName, asked []v1.RouteKey) {
	object, found, err := g.routes.GetByKey(key.String())
	dropped, ok := object.(*grant)
	if err != nil || !found || !ok {
		return
	}
	_ = g.routes.Delete(dropped) // Only grantKey could fail.
	gone := slices.DeleteFunc(slices.Clone(dropped.keys), func(key v1.RouteKey) bool { return slices.Contains(asked, key) })
	g.claimants.enqueueClaimants(gone, workqueue.Trigger{Kind: v1.ApplicationKind, Event: workqueue.FanOut, ForceFullSync: true})
}

// unserved returns the keys that no live route of the Application serves.
func (g *grants) unserved(application *v1.Application) ([]v1.RouteKey, error) {
	var keys []v1.RouteKey
	for _, key := range application.RouteKeys() {
		claims, err := g.informers.RouteClaims(application.Namespace, key)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(claims, func(claim v1.RouteClaim) bool { return claim.Serves && claim.Application.Name == application.Name }) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// hostClaims and routeClaims return the claims of the caches and of the grants.

func (g *grants) hostClaims(host string) ([]v1.RouteClaim, error) {
	claims, err := g.informers.HostClaims(host)
	if err != nil {
		return nil, err
	}
	err = informer.VisitHost(g.routes, host, func(object informer.Routed, host string) { claims = appendGrant(claims, object, host) })
	return claims, err
}

func (g *grants) routeClaims(namespace string, key v1.RouteKey) ([]v1.RouteClaim, error) {
	claims, err := g.informers.RouteClaims(namespace, key)
	if err != nil {
		return nil, err
	}
	err = informer.VisitRoute(g.routes, namespace, key, func(object informer.Routed) { claims = appendGrant(claims, object, key.Host) })
	return claims, err
}

func appendGrant(claims []v1.RouteClaim, object informer.Routed, host string) []v1.RouteClaim {
	if granted, ok := object.(*grant); ok {
		claims = append(claims, v1.RouteClaim{Application: granted.application, Host: host, Serves: true})
	}
	return claims
}
