// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// HostClaims returns the claims to host names that overlap with the given one, of all watched namespaces and in no
// order: those of specs, and those of live Ingresses and HTTPRoutes. The cache owns the Applications: never change
// them.
func (i *Informers) HostClaims(host string) ([]v1.RouteClaim, error) {
	var claims []v1.RouteClaim
	for _, s := range i.scopes {
		err := i.visitRouted(s, func(indexer cache.Indexer) error {
			return VisitHost(indexer, host, func(object Routed, host string) { claims = i.appendClaim(claims, object, host) })
		})
		if err != nil {
			return nil, err
		}
	}
	return claims, nil
}

// RouteClaims returns the claims of a namespace to a host name and path, like HostClaims.
func (i *Informers) RouteClaims(namespace string, key v1.RouteKey) ([]v1.RouteClaim, error) {
	s, found := i.scope(namespace)
	if !found {
		return nil, nil
	}
	var claims []v1.RouteClaim
	err := i.visitRouted(s, func(indexer cache.Indexer) error {
		return VisitRoute(indexer, namespace, key, func(object Routed) { claims = i.appendClaim(claims, object, key.Host) })
	})
	return claims, err
}

// visitRouted calls f for each cache of a scope whose objects have host names.
func (i *Informers) visitRouted(s *scope, f func(cache.Indexer) error) error {
	if err := f(s.applications.GetIndexer()); err != nil {
		return err
	}
	for _, c := range i.childrenIn(s) {
		if c.kind.CarriesRoutes() {
			if err := f(c.informer.GetIndexer()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *Informers) appendClaim(claims []v1.RouteClaim, object Routed, host string) []v1.RouteClaim {
	switch object := object.(type) {
	case *v1.Application:
		if object.DeletionTimestamp != nil {
			return claims // It gets no new routes, and webhooks ignore its spec.
		}
		return append(claims, v1.RouteClaim{Application: object, Host: host})
	case *Encoded:
		if owner := i.servedBy(object, host); owner != nil {
			return append(claims, v1.RouteClaim{Application: owner, Host: host, Serves: true})
		}
	}
	return claims
}

// servedBy returns the Application that owns a live route, or nil. A label or a name proves nothing, since any user
// who may write Ingresses can set those. The Application owns the route if the route has its UID as the owner's, or
// if its status lists the UID of the route.
//
// The route of a deleted Application continues to serve, until the garbage collector deletes it or, as an orphan, for
// good. It keeps other Applications from the same host name, but not from everything that a wildcard covers: a user
// may have made it up.
func (i *Informers) servedBy(object *Encoded, host string) *v1.Application {
	name := cache.ObjectName{Namespace: object.Namespace, Name: cmp.Or(object.Owner, object.Label)}
	application, found, err := i.Application(name)
	switch {
	case err == nil && found && (object.OwnerUID == application.UID || listsResource(application, object)):
		return application
	case object.OwnerUID != "" && !strings.HasPrefix(host, "*"):
		return &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}
	default:
		return nil
	}
}

func listsResource(application *v1.Application, object *Encoded) bool {
	return slices.ContainsFunc(application.Status.Resources, func(resource v1.ResourceStatus) bool { return resource.UID == object.UID })
}
