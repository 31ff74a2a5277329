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
