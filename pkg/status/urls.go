// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"maps"
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// ServedURLs returns the addresses that Ingresses and HTTPRoutes of the Application serve after a sync: the rendered ones
// of applied children, in the order of the spec; otherwise those of live children. Foreign objects have none, nor has an
// HTTPRoute that no Gateway has accepted.
func ServedURLs(snapshot child.Snapshot, results []plan.Result, rendered []child.Addresses) []string {
	in := Input{Snapshot: snapshot, Results: results}
	var urls []string
	seen := map[string]bool{}
	add := func(more []string) {
		for _, url := range more {
			if !seen[url] {
				seen[url] = true
				urls = append(urls, url)
			}
		}
	}
	done := map[child.Ref]bool{}
	for _, route := range rendered {
		done[route.Ref] = true
		switch former := predecessor(route.Ref); {
		case in.serves(route.Ref) && in.accepted(route.Ref):
			add(route.URLs)
		case !in.owns(former):
			add(in.liveURLs(route.Ref, rendered))
		default:
			done[former] = true
			add(in.liveURLs(route.Ref, rendered))
			add(in.liveURLs(former, rendered))
		}
	}
	for _, ref := range slices.SortedFunc(maps.Keys(snapshot.Children), compareRefs) {
		if ref.Kind.CarriesRoutes() && !done[ref] {
			add(in.liveURLs(ref, rendered))
		}
	}
	return urls
}

func compareRefs(a, b child.Ref) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind.Kind, b.Kind.Kind))
}

// serves reports whether the child is as rendered.
func (in Input) serves(ref child.Ref) bool {
	result, found := in.result(ref)
	return found && result.Err == nil && (result.Action == plan.Keep || !in.observing() && (result.Action == plan.Create || result.Action == plan.Apply))
}

// predecessor returns the child that carried a route before it changed its kind.
func predecessor(ref child.Ref) child.Ref {
	if ref.Kind == child.HTTPRoute {
		ref.Kind = child.Ingress
	} else {
		ref.Kind = child.HTTPRoute
	}
	return ref
}

// accepted reports whether a Gateway routes requests by the child, if it is an HTTPRoute.
func (in Input) accepted(ref child.Ref) bool {
	if ref.Kind != child.HTTPRoute {
		return true
	}
	live, found := in.Snapshot.Children[ref].(*gatewayv1.HTTPRoute)
	return found && child.IsServed(live)
}

// liveURLs returns those of a live child, unless the sync has deleted it.
func (in Input) liveURLs(ref child.Ref, rendered []child.Addresses) []string {
	if result, found := in.result(ref); found && result.Action == plan.Delete && result.Err == nil && !in.observing() {
		return nil
	}
	if !in.owns(ref) || !in.accepted(ref) {
		return nil
	}
	return child.LiveURLs(in.Snapshot.Children[ref], func(hostname string, path v1.RoutePath) bool {
		return in.knownHTTPS(child.URL(true, hostname, path), rendered)
	})
}

// knownHTTPS reports whether an address with HTTPS is in the last status or asked for. The HTTPRoute does not say: its Gateway has the
// certificate. The status alone does not say either: it has no address of an HTTPRoute that no Gateway accepted then.
func (in Input) knownHTTPS(url string, rendered []child.Addresses) bool {
	isRendered := func(addresses child.Addresses) bool { return slices.Contains(addresses.URLs, url) }
	return slices.Contains(in.Snapshot.Application.Status.URLs, url) || slices.ContainsFunc(rendered, isRendered) ||
		slices.ContainsFunc(in.Snapshot.Application.Spec.Routes, func(route v1.Route) bool { return asksHTTPS(route, url) })
}

// asksHTTPS reports whether a route of the spec has the address with HTTPS. It is for a sync that renders nothing, such as one of an
// invalid spec.
func asksHTTPS(route v1.Route, url string) bool {
	paths := route.Paths
	if len(paths) == 0 {
		paths = []v1.RoutePath{{}}
	}
	return route.TLS != nil && slices.ContainsFunc(route.Hostnames, func(hostname string) bool {
		return slices.ContainsFunc(paths, func(path v1.RoutePath) bool { return child.URL(true, hostname, path) == url })
	})
}
