// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"strings"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Routed is an object with host names and paths: an Application asks for them, a live route serves them.
type Routed interface {
	GetNamespace() string
	RouteKeys() []v1.RouteKey
	// EachHost calls f for each host name of the keys, until f returns false. It may repeat a host name.
	EachHost(f func(host string) bool)
}

const (
	// byRoute is the name of the index that finds objects by host name and path in a namespace.
	byRoute = "route"
	// byHost is the name of the index that finds objects by host name, or by a domain above it.
	byHost = "host"
)

// RouteIndexers returns the indexers that VisitRoute and VisitHost need. The objects must be Routed.
func RouteIndexers() cache.Indexers {
	return cache.Indexers{byRoute: indexRouted(routeValues), byHost: indexRouted(hostValues)}
}

func indexRouted(values func(Routed) []string) cache.IndexFunc {
	return func(object any) ([]string, error) {
		routed, ok := object.(Routed)
		if !ok {
			return nil, fmt.Errorf("index routes: %T has no host names", object)
		}
		return values(routed), nil
	}
}

func routeValues(object Routed) []string {
	keys := object.RouteKeys()
	values := make([]string, 0, len(keys))
	for _, key := range keys {
		values = append(values, routeValue(object.GetNamespace(), key))
	}
	return values
}

func routeValue(namespace string, key v1.RouteKey) string { return namespace + "/" + key.String() }

// maxDomains is how many domains of a host name are in the index. A name may have 127 labels, and the index must stay
// in proportion to what a user stores. VisitHost filters what is deeper.
const maxDomains = v1.MaxHostLabels - 1

// hostValues returns the host names, and the domains above them, by which VisitHost finds what a wildcard covers.
func hostValues(object Routed) []string {
	var values []string
	seen := map[string]struct{}{}
	add := func(value string) {
		if _, found := seen[value]; !found {
			seen[value] = struct{}{}
			values = append(values, value)
		}
	}
	for _, key := range object.RouteKeys() {
		if strings.HasPrefix(key.Host, ".") {
			continue // Validation refuses it, since it is no host name. In the index it would look like a domain.
		}
		add(key.Host)
		of := domains(key.Host)
		for _, domain := range of[max(0, len(of)-maxDomains):] {
			add(domain)
		}
	}
	return values
}

// domains returns the domains above a host name, the longest first, each with its leading dot: .example.com and .com
// for shop.example.com, and the same for *.example.com.
func domains(host string) []string {
	var all []string
	for i := range len(host) {
		if host[i] == '.' {
			all = append(all, host[i:])
		}
	}
	return all
}

// VisitRoute calls f for each object with the host name and path in the namespace.
func VisitRoute(indexer cache.Indexer, namespace string, key v1.RouteKey, f func(Routed)) error {
	objects, err := indexer.ByIndex(byRoute, routeValue(namespace, key))
	if err != nil {
		return fmt.Errorf("find objects with route %s: %w", key, err)
	}
	for _, object := range objects {
		if routed, ok := object.(Routed); ok {
			f(routed)
		}
	}
	return nil
}

// VisitHost calls f for each host name of an object that overlaps with the given one: an equal one, a wildcard that
// covers it, or one that it covers as a wildcard.
func VisitHost(indexer cache.Indexer, host string, f func(object Routed, host string)) error {
	find := func(value string, f func(Routed)) error {
		objects, err := indexer.ByIndex(byHost, value)
		if err != nil {
			return fmt.Errorf("find objects with host name %s: %w", host, err)
		}
		for _, object := range objects {
			if routed, ok := object.(Routed); ok {
				f(routed)
			}
		}
		return nil
	}
	if err := find(host, func(object Routed) { f(object, host) }); err != nil {
		return err
	}
	above := domains(host)
	for _, domain := range above {
		if wildcard := "*" + domain; wildcard != host {
			if err := find(wildcard, func(object Routed) { f(object, wildcard) }); err != nil {
				return err
			}
		}
	}
	if !strings.HasPrefix(host, "*.") {
		return nil
	}
	return find(above[max(0, len(above)-maxDomains)], func(object Routed) {
		last := ""
		object.EachHost(func(below string) bool {
			if below != last && below != host && v1.HostCovers(host, below) {
				f(object, below)
			}
			last = below // Keys of one host name are adjacent.
			return true
		})
	})
}
