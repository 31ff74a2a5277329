// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// RouteKind is the kind of child that carries a route, whose class has been merged already. Of a route
// of type Auto it follows what the cluster serves, unless the route has what only one of the two APIs
// can say: then it keeps to that, and is reported rather than weakened.
func RouteKind(route v1.Route, facts Facts) child.Kind {
	switch {
	case route.Type == v1.RouteHTTPRoute:
		return child.HTTPRoute
	case route.Type == v1.RouteIngress, len(route.ParentRefs) == 0:
		return child.Ingress
	case route.NeedsHTTPRoute():
		return child.HTTPRoute
	case route.NeedsIngress(), facts.WithoutHTTPRoutes:
		return child.Ingress
	default:
		return child.HTTPRoute
	}
}

// redirects reports whether requests by HTTP are redirected to HTTPS.
func redirects(route v1.Route) bool {
	return route.TLS != nil && route.TLS.Redirect != nil && *route.TLS.Redirect
}
