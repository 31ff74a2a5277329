// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// URLs returns the addresses of the Application from outside the cluster, once its routes are applied: for each route
// the child that carries it, with host names and paths in the order of the spec.
func URLs(app *v1.Application, facts Facts) []child.Addresses {
	if len(app.Spec.Ports) == 0 {
		return nil
	}
	var routes []child.Addresses
	for i, route := range app.Spec.Routes {
		addresses := child.Addresses{Ref: child.Ref{Kind: RouteKind(route, facts), Namespace: app.Namespace, Name: RouteName(app, i)}}
		for _, hostname := range route.Hostnames {
			for _, path := range RoutePaths(app, route) {
				addresses.URLs = append(addresses.URLs, child.URL(route.TLS != nil, hostname, path))
			}
		}
		routes = append(routes, addresses)
	}
	return routes
}
