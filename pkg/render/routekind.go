// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// RouteKind returns the kind of child that carries a route, whose class has been merged. A route of type Auto follows
// what the cluster serves. But if it has a field that only one of the two APIs supports, it stays with that API, and
// the status reports that the API is missing instead of ignoring the field.
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

// redirects reports whether the route redirects HTTP to HTTPS.
func redirects(route v1.Route) bool {
	return route.TLS != nil && route.TLS.Redirect != nil && *route.TLS.Redirect
}
