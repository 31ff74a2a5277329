// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"net/url"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// RouteKey is a host name and a path under it, in the one form in which two Applications must not
// both have it. How the path is compared does not matter: an Exact path of one Application would
// take requests from an equal Prefix of another.
//
// Keys are compared as they are: *.example.com and web.example.com are two, and so are / and /login,
// because sharing a host by its paths is what paths are for. That is so within a namespace; between
// namespaces HostsOverlap decides.
type RouteKey struct {
	Host string
	Path string
}

// String is the key as it is read by people and kept in indexes.
func (k RouteKey) String() string { return k.Host + k.Path }

// NewRouteKey returns the key of a path under a host name.
func NewRouteKey(hostname string, path RoutePath) RouteKey {
	return RouteKey{Host: CanonicalHost(hostname), Path: comparablePath(path)}
}

// comparablePath is without what would make one path look like two: the slash at the end, and
// percent-encoding of what needs none. A path that only its IngressClass understands, often a
// regular expression, is left as it is.
func comparablePath(path RoutePath) string {
	canonical := path.Path
	if path.PathType != networkingv1.PathTypeImplementationSpecific {
		if decoded, err := url.PathUnescape(canonical); err == nil {
			canonical = decoded
		}
	}
	return "/" + strings.Trim(canonical, "/")
}

// MaxHostLabels is how many labels a host name of a route may have, a wildcard's * included. Host names are
// indexed by each domain that they are in.
const MaxHostLabels = 9

// MaxWildcards is how many wildcards an Application may ask for. Each is looked up among all host names below it.
const MaxWildcards = 32

// EachHost calls f for each host name that the routes ask for, in its canonical form, until f returns false.
// An Application that asks for too much asks for none, as with RouteKeys.
func (a *Application) EachHost(f func(host string) bool) {
	if a.Spec.routePaths() > MaxRoutePaths {
		return
	}
	for i := range a.Spec.Routes {
		for _, hostname := range a.Spec.Routes[i].Hostnames {
			if host := CanonicalHost(hostname); !tooDeep(host) && !f(host) {
				return
			}
		}
	}
}

// AsksForHost reports whether a route asks for the host name.
func (a *Application) AsksForHost(host string) bool {
	found := false
	a.EachHost(func(asked string) bool {
		found = asked == host
		return !found
	})
	return found
}

// wildcards counts the host names that are one.
func (s *ApplicationSpec) wildcards() int {
	n := 0
	for i := range s.Routes {
		for _, hostname := range s.Routes[i].Hostnames {
			if strings.HasPrefix(hostname, "*") {
				n++
			}
		}
	}
	return n
}

// tooDeep host names are refused, and no index has them.
func tooDeep(host string) bool { return strings.Count(host, ".") >= MaxHostLabels }

// RouteKeys are the keys of all routes, in the order of the spec, each once. An Application asks
// for them from the moment it is stored until it is gone. One with too many asks for none: it is refused
// for that, and the list would be its product.
func (a *Application) RouteKeys() []RouteKey {
	if a.Spec.routePaths() > MaxRoutePaths {
		return nil
	}
	var keys []RouteKey
	seen := map[RouteKey]struct{}{}
	for i := range a.Spec.Routes {
		route := &a.Spec.Routes[i]
		paths := route.Paths
		if len(paths) == 0 {
			paths = []RoutePath{{}} // the default: the prefix /
		}
		for _, hostname := range route.Hostnames {
			if tooDeep(CanonicalHost(hostname)) {
				continue
			}
			for _, path := range paths {
				key := NewRouteKey(hostname, path)
				if _, found := seen[key]; !found {
					seen[key] = struct{}{}
					keys = append(keys, key)
				}
			}
		}
	}
	return keys
}
