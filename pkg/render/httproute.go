// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1ac "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// The lists of an HTTPRoute are atomic, so every default inside them is rendered, except the weight of a backend, which
// belongs to the controller that splits traffic (see pkg/plan/weights.go).

// The listeners of a Gateway that tls.redirect uses, unless a parentRef names others.
const (
	httpListener  = "http"
	httpsListener = "https"
	httpPort      = 80
)

// httpRoutes renders an HTTPRoute for each route of that type, and one more for a redirect. As with Ingresses, there
// must be ports, and a route without a host name is omitted.
func httpRoutes(app *v1.Application, facts Facts) ([]any, error) {
	if len(app.Spec.Ports) == 0 {
		return nil, nil
	}
	var rendered []any
	for i, route := range app.Spec.Routes {
		if len(route.Hostnames) == 0 || RouteKind(route, facts) != child.HTTPRoute {
			continue
		}
		parents := route.ParentRefs
		if redirects(route) {
			parents = secureParents(parents)
			rendered = append(rendered, httpRoute(app, route, RedirectName(app, i), plainParents(route.ParentRefs), redirectRule(app, route)))
		}
		rendered = append(rendered, httpRoute(app, route, RouteName(app, i), parents, forwardingRules(app, route)...))
	}
	return rendered, nil
}

func httpRoute(app *v1.Application, route v1.Route, name string, parents []v1.ParentReference, rules ...*gatewayv1ac.HTTPRouteRuleApplyConfiguration) any {
	spec := gatewayv1ac.HTTPRouteSpec().WithRules(rules...)
	for _, hostname := range route.Hostnames {
		spec.WithHostnames(gatewayv1.Hostname(hostname))
	}
	for _, parent := range parents {
		spec.WithParentRefs(parentRef(parent))
	}
	rendered := gatewayv1ac.HTTPRoute(name, app.Namespace).WithSpec(spec)
	rendered.ObjectMetaApplyConfiguration = objectMeta(app, name, route.Annotations)
	return rendered
}

func parentRef(parent v1.ParentReference) *gatewayv1ac.ParentReferenceApplyConfiguration {
	is := parent.GroupKind()
	ref := gatewayv1ac.ParentReference().
		WithGroup(gatewayv1.Group(is.Group)).
		WithKind(gatewayv1.Kind(is.Kind)).
		WithName(gatewayv1.ObjectName(parent.Name))
	if parent.Namespace != "" {
		ref.WithNamespace(gatewayv1.Namespace(parent.Namespace))
	}
	if parent.SectionName != "" {
		ref.WithSectionName(gatewayv1.SectionName(parent.SectionName))
	}
	if parent.Port != nil {
		ref.WithPort(*parent.Port)
	}
	return ref
}

// secureParents returns the parents of a route that redirects. They are not all listeners of a Gateway, since the
// route itself would then also answer by HTTP, beside its redirect.
func secureParents(parents []v1.ParentReference) []v1.ParentReference {
	secure := make([]v1.ParentReference, 0, len(parents))
	for _, parent := range parents {
		if parent.SectionName == "" && parent.Port == nil {
			parent.SectionName = httpsListener
		}
		secure = append(secure, parent)
	}
	return secure
}

// plainParents returns the parents of the redirect, each once: several listeners of a Gateway share one for HTTP.
func plainParents(parents []v1.ParentReference) []v1.ParentReference {
	type parentKey struct {
		is                       schema.GroupKind
		namespace, name, section string
		port                     int32
	}
	seen := map[parentKey]bool{}
	var plain []v1.ParentReference
	for _, parent := range parents {
		key := parentKey{is: parent.GroupKind(), namespace: parent.Namespace, name: parent.Name}
		if parent.Port != nil && parent.SectionName == "" {
			parent.Port, key.port = new(int32(httpPort)), httpPort
		} else {
			parent.SectionName, parent.Port, key.section = httpListener, nil, httpListener
		}
		if !seen[key] {
			seen[key] = true
			plain = append(plain, parent)
		}
	}
	return plain
}

// redirectRule redirects exactly the requests of the route, because other paths of its host names may be routes of
// other Applications. It uses 301, not the API's default of 302, so that browsers remember it.
func redirectRule(app *v1.Application, route v1.Route) *gatewayv1ac.HTTPRouteRuleApplyConfiguration {
	rule := gatewayv1ac.HTTPRouteRule()
	for _, path := range RoutePaths(app, route) {
		rule.WithMatches(pathMatch(path))
	}
	return rule.
		WithFilters(gatewayv1ac.HTTPRouteFilter().
			WithType(gatewayv1.HTTPRouteFilterRequestRedirect).
			WithRequestRedirect(gatewayv1ac.HTTPRequestRedirectFilter().WithScheme("https").WithStatusCode(301)))
}

// forwardingRules returns one rule for all paths to the same port, since a route may have only 16 rules, and one for
// each path with a rewrite, which the API requires. Their order does not matter: the most specific match takes a
// request.
func forwardingRules(app *v1.Application, route v1.Route) []*gatewayv1ac.HTTPRouteRuleApplyConfiguration {
	var rules []*gatewayv1ac.HTTPRouteRuleApplyConfiguration
	ofPort := map[string]*gatewayv1ac.HTTPRouteRuleApplyConfiguration{}
	for _, path := range RoutePaths(app, route) {
		if path.RewritePrefix == nil && ofPort[path.Port] != nil {
			ofPort[path.Port].WithMatches(pathMatch(path))
			continue
		}
		rule := gatewayv1ac.HTTPRouteRule().WithMatches(pathMatch(path))
		if path.RewritePrefix != nil {
			rule.WithFilters(gatewayv1ac.HTTPRouteFilter().
				WithType(gatewayv1.HTTPRouteFilterURLRewrite).
				WithURLRewrite(gatewayv1ac.HTTPURLRewriteFilter().WithPath(gatewayv1ac.HTTPPathModifier().
					WithType(gatewayv1.PrefixMatchHTTPPathModifier).
					WithReplacePrefixMatch(*path.RewritePrefix))))
		} else {
			ofPort[path.Port] = rule
		}
		// This API refers to a port of a Service by number.
		for _, port := range declaredPorts(app, []string{path.Port}) {
			rule.WithBackendRefs(gatewayv1ac.HTTPBackendRef().
				WithGroup("").WithKind("Service").
				WithName(gatewayv1.ObjectName(app.Name)).
				WithPort(ServicePort(port)))
		}
		rules = append(rules, rule)
	}
	return rules
}

func pathMatch(path v1.RoutePath) *gatewayv1ac.HTTPRouteMatchApplyConfiguration {
	kind := gatewayv1.PathMatchPathPrefix
	if path.PathType == networkingv1.PathTypeExact {
		kind = gatewayv1.PathMatchExact
	}
	return gatewayv1ac.HTTPRouteMatch().WithPath(gatewayv1ac.HTTPPathMatch().WithType(kind).WithValue(path.Path))
}
