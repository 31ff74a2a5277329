// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"cmp"
	"slices"

	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/ptr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// mergeRoutes fills each route of the Application, and records what any of them took.
func mergeRoutes(application string) merger {
	return func(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
		if defaults.Routes == nil {
			return
		}
		from := v1.RouteDefaults{}
		for i := range spec.Routes {
			mergeRoute(application, spec.Routes, i, defaults.Routes, &from)
		}
		if !equality.Semantic.DeepEqual(from, v1.RouteDefaults{}) {
			taken.Routes = &from
		}
	}
}

func mergeRoute(application string, routes []v1.Route, i int, defaults, taken *v1.RouteDefaults) {
	route := &routes[i]
	mergeRouteType(route, defaults, taken)
	_, named := route.Annotations[networkingv1beta1.AnnotationIngressClass]
	if route.IngressClassName == nil && !named && defaults.IngressClassName != nil {
		route.IngressClassName, taken.IngressClassName = defaults.IngressClassName, defaults.IngressClassName
	}
	mergeRouteTLS(application, routes, i, defaults.TLS, taken)
	merged, added := mergeKeys(route.Annotations, defaults.Annotations)
	route.Annotations = merged
	for key, value := range added {
		taken.Annotations = with(taken.Annotations, key, value)
	}
}

// mergeRouteType takes the type and the parents, unless the route has a field that only the other API supports.
func mergeRouteType(route *v1.Route, defaults, taken *v1.RouteDefaults) {
	open := route.Type == "" || route.Type == v1.RouteAuto
	onlyIngress := route.NeedsIngress() || len(route.Hostnames) > v1.MaxHTTPRouteHostnames
	switch {
	case open && defaults.Type == v1.RouteIngress && len(route.ParentRefs) == 0 && !route.NeedsHTTPRoute(),
		open && defaults.Type == v1.RouteHTTPRoute && !onlyIngress:
		route.Type, taken.Type = defaults.Type, defaults.Type
	}
	ingress := route.Type == v1.RouteIngress || route.Type != v1.RouteHTTPRoute && onlyIngress
	if len(route.ParentRefs) == 0 && len(defaults.ParentRefs) > 0 && !ingress {
		route.ParentRefs, taken.ParentRefs = defaults.ParentRefs, defaults.ParentRefs
	}
}

// mergeRouteTLS serves the route by HTTPS, if the class sets that.
func mergeRouteTLS(application string, routes []v1.Route, i int, defaults *v1.RouteTLSDefaults, taken *v1.RouteDefaults) {
	if defaults == nil {
		return
	}
	route := &routes[i]
	merged, from := v1.RouteTLS{}, ptr.Deref(taken.TLS, v1.RouteTLSDefaults{}) // Keep what other routes took.
	if route.TLS != nil {
		merged = *route.TLS
	} else {
		// Unlike the name of the Ingress, it does not depend on the order of the routes.
		own := application + "-" + route.Name + "-tls"
		merged.SecretName, from.SecretName = cmp.Or(defaults.SecretName, own), defaults.SecretName
	}
	redirects := merged.Redirect == nil && defaults.Redirect != nil && mayRedirect(routes, i)
	if redirects {
		merged.Redirect, from.Redirect = defaults.Redirect, defaults.Redirect
	}
	if route.TLS == nil || redirects {
		route.TLS, taken.TLS = &merged, &from
	}
}

// mayRedirect reports whether a redirect is possible: the route is an HTTPRoute that is not attached to the HTTP
// listener itself, and no other route has the name of the redirect.
func mayRedirect(routes []v1.Route, i int) bool {
	named := func(other v1.Route) bool { return other.Name == v1.RedirectName(routes, i) }
	return routes[i].MayBeHTTPRoute() && !routes[i].OnHTTP() && !slices.ContainsFunc(routes[1:], named)
}

// mergeNetworkPolicy takes the policy as a whole, restricted to the ports of the Application.
func mergeNetworkPolicy(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if spec.NetworkPolicy != nil || defaults.NetworkPolicy == nil {
		return
	}
	policy := defaults.NetworkPolicy
	policy.Ingress = slices.DeleteFunc(policy.Ingress, func(rule v1.NetworkPolicyIngressRule) bool {
		return len(rule.Ports) > 0 && !slices.ContainsFunc(rule.Ports, hasPort(spec))
	})
	for i := range policy.Ingress {
		policy.Ingress[i].Ports = slices.DeleteFunc(policy.Ingress[i].Ports, func(name string) bool { return !hasPort(spec)(name) })
	}
	spec.NetworkPolicy, taken.NetworkPolicy = policy, policy
}

func hasPort(spec *v1.ApplicationSpec) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(spec.Ports, func(port v1.ApplicationPort) bool { return port.Name == name })
	}
}
