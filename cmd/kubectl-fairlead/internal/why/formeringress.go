// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
)

// formerIngresses names the Ingresses that still carry the routes which became HTTPRoutes; none if one of these routes has a host name or a path
// that its Ingress lacks.
func (f facts) formerIngresses() (names []string) {
	for i, route := range f.app.Spec.Routes {
		name := render.RouteName(f.app, i)
		if !slices.ContainsFunc(f.app.Status.Resources, func(r v1.ResourceStatus) bool {
			return r.Group == child.HTTPRoute.Group && r.Kind == child.HTTPRoute.Kind && r.Name == name
		}) {
			continue
		}
		ingress := child.Get[*networkingv1.Ingress](f.Snapshot(), child.Ingress, name)
		if ingress == nil || !child.OwnedBy(ingress, f.app) || ingress.DeletionTimestamp != nil || !carries(ingress, route.Hostnames, render.RoutePaths(f.app, route)) {
			return nil
		}
		names = append(names, child.Ingress.Kind+" "+name)
	}
	return names
}

// carries reports whether the Ingress has all paths under each host name.
func carries(ingress *networkingv1.Ingress, hostnames []string, paths []v1.RoutePath) bool {
	has := func(hostname string, path v1.RoutePath) bool {
		return slices.ContainsFunc(ingress.Spec.Rules, func(rule networkingv1.IngressRule) bool {
			return rule.Host == hostname && rule.HTTP != nil && slices.ContainsFunc(rule.HTTP.Paths, func(p networkingv1.HTTPIngressPath) bool {
				return p.Path == path.Path && p.PathType != nil && *p.PathType == path.PathType
			})
		})
	}
	for _, hostname := range hostnames {
		if slices.ContainsFunc(paths, func(path v1.RoutePath) bool { return !has(hostname, path) }) {
			return false
		}
	}
	return true
}
