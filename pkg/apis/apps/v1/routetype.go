// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"cmp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// MaxHTTPRouteHostnames is how many host names the schema of an HTTPRoute allows.
const MaxHTTPRouteHostnames = 16

// RedirectSuffix ends the name of the redirect of a route.
const RedirectSuffix = "-redirect"

// RedirectName is what the redirect of routes[i] is called among them. The first route's own object has the
// bare name of the Application, so of the first route only the redirect takes a name.
func RedirectName(routes []Route, i int) string {
	if i == 0 {
		return "redirect"
	}
	return routes[i].Name + RedirectSuffix
}

// NeedsHTTPRoute reports whether the route asks for what an Ingress has no portable way to say.
func (r *Route) NeedsHTTPRoute() bool {
	return r.TLS != nil && r.TLS.Redirect != nil && *r.TLS.Redirect ||
		slices.ContainsFunc(r.Paths, func(path RoutePath) bool { return path.RewritePrefix != nil })
}

// NeedsIngress reports whether the route has a path that only an IngressClass understands.
func (r *Route) NeedsIngress() bool {
	return slices.ContainsFunc(r.Paths, func(path RoutePath) bool { return path.PathType == networkingv1.PathTypeImplementationSpecific })
}

// MayBeHTTPRoute reports whether the route is an HTTPRoute, or becomes one where the API is served.
func (r *Route) MayBeHTTPRoute() bool {
	switch r.Type {
	case RouteHTTPRoute:
		return true
	case RouteIngress:
		return false
	default:
		return len(r.ParentRefs) > 0 && (r.NeedsHTTPRoute() || !r.NeedsIngress())
	}
}

// OnHTTP reports whether a parent of the route is where a redirect to HTTPS would be.
func (r *Route) OnHTTP() bool { return slices.ContainsFunc(r.ParentRefs, ParentReference.onHTTP) }

// GroupKind is what the parent is: a Gateway, if it does not say.
func (p ParentReference) GroupKind() schema.GroupKind {
	group := "gateway.networking.k8s.io"
	if p.Group != nil {
		group = *p.Group
	}
	return schema.GroupKind{Group: group, Kind: cmp.Or(p.Kind, "Gateway")}
}

// onHTTP: the listener that is called http, or port 80 where no listener is named.
func (p ParentReference) onHTTP() bool {
	return p.SectionName == "http" || p.SectionName == "" && p.Port != nil && *p.Port == 80
}
