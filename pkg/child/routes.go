// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"cmp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// maxLiveRoutes bounds what the controller reads of a live route. Fairlead writes fewer. What other writers add
// beyond it is drift, which only helps the Application that they added it to.
const maxLiveRoutes = 1024

// RouteKeys returns the host names and paths that a live Ingress or HTTPRoute serves, each once. It returns nil for
// other kinds.
func RouteKeys(object Object) []v1.RouteKey {
	var keys []v1.RouteKey
	seen := map[v1.RouteKey]struct{}{}
	eachLiveRoute(object, func(hostname string, path v1.RoutePath) {
		if hostname == "" || len(keys) >= maxLiveRoutes {
			return
		}
		key := v1.NewRouteKey(hostname, path)
		if _, found := seen[key]; !found {
			seen[key] = struct{}{}
			keys = append(keys, key)
		}
	})
	return keys
}

func eachLiveRoute(object Object, f func(hostname string, path v1.RoutePath)) {
	switch route := object.(type) {
	case *networkingv1.Ingress:
		eachIngressRoute(route, f)
	case *gatewayv1.HTTPRoute:
		eachHTTPRoute(route, f)
	}
}

// eachIngressRoute also calls f for host names that have TLS but no rule: an Ingress controller may request
// certificates for them.
func eachIngressRoute(ingress *networkingv1.Ingress, f func(string, v1.RoutePath)) {
	ruled := map[string]bool{}
	for _, rule := range ingress.Spec.Rules {
		ruled[rule.Host] = true
		if rule.HTTP == nil {
			f(rule.Host, v1.RoutePath{})
			continue
		}
		for _, path := range rule.HTTP.Paths {
			pathType := networkingv1.PathTypeImplementationSpecific
			if path.PathType != nil {
				pathType = *path.PathType
			}
			f(rule.Host, v1.RoutePath{Path: path.Path, PathType: pathType})
		}
	}
	for _, tls := range ingress.Spec.TLS {
		for _, host := range tls.Hosts {
			if !ruled[host] {
				f(host, v1.RoutePath{})
			}
		}
	}
}

func eachHTTPRoute(route *gatewayv1.HTTPRoute, f func(string, v1.RoutePath)) {
	for _, hostname := range route.Spec.Hostnames {
		if len(route.Spec.Rules) == 0 {
			f(string(hostname), v1.RoutePath{})
		}
		for _, rule := range route.Spec.Rules {
			if len(rule.Matches) == 0 {
				f(string(hostname), v1.RoutePath{})
			}
			for _, match := range rule.Matches {
				f(string(hostname), livePath(match.Path))
			}
		}
	}
}

func livePath(match *gatewayv1.HTTPPathMatch) v1.RoutePath {
	if match == nil || match.Value == nil {
		return v1.RoutePath{}
	}
	path := v1.RoutePath{Path: *match.Value}
	if match.Type != nil && *match.Type == gatewayv1.PathMatchRegularExpression {
		path.PathType = networkingv1.PathTypeImplementationSpecific
	}
	return path
}

// Addresses are the URLs that an Ingress or HTTPRoute serves.
type Addresses struct {
	Ref  Ref
	URLs []string
}

// URL returns the URL of a path under a host name. A wildcard stays "*.".
func URL(secure bool, hostname string, path v1.RoutePath) string {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	return scheme + "://" + hostname + cmp.Or(path.Path, "/")
}

// LiveURLs returns the URLs that a live Ingress or HTTPRoute serves, nil for other kinds. An HTTPRoute that only
// redirects serves none. https reports whether a host name and path of an HTTPRoute is served by HTTPS.
func LiveURLs(object Object, https func(hostname string, path v1.RoutePath) bool) []string {
	secure := https
	switch route := object.(type) {
	case *networkingv1.Ingress:
		secured := map[string]bool{}
		for _, tls := range route.Spec.TLS {
			for _, host := range tls.Hosts {
				secured[host] = true
			}
		}
		secure = func(hostname string, _ v1.RoutePath) bool { return secured[hostname] }
	case *gatewayv1.HTTPRoute:
		if !slices.ContainsFunc(route.Spec.Rules, func(rule gatewayv1.HTTPRouteRule) bool { return len(rule.BackendRefs) > 0 }) {
			return nil
		}
	}
	var urls []string
	eachLiveRoute(object, func(hostname string, path v1.RoutePath) {
		if hostname != "" && len(urls) < maxLiveRoutes {
			urls = append(urls, URL(secure(hostname, path), hostname, path))
		}
	})
	return urls
}
