// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// RouteClaimants returns the stored Applications, of all namespaces, whose routes ask for the key.
type RouteClaimants func(v1.RouteKey) ([]*v1.Application, error)

// RouteOwner is the one of the claimants that a host name and path belong to: who serves them
// already, and among several or none of those, the oldest. The status comes before the age, because
// an Application that is old may ask for a host name today that a younger one has served for long.
// It returns nil if there is no claimant.
func RouteOwner(key v1.RouteKey, claimants []*v1.Application) *v1.Application {
	if len(claimants) == 0 {
		return nil
	}
	return slices.MinFunc(claimants, func(a, b *v1.Application) int {
		return cmp.Or(
			first(serves(a, key), serves(b, key)),
			a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name),
		)
	})
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// serves tells whether the Application's status has a URL for the key: then a sync found it valid,
// and owning the key.
func serves(app *v1.Application, key v1.RouteKey) bool {
	return slices.ContainsFunc(app.Status.URLs, func(url string) bool {
		_, address, _ := strings.Cut(url, "://")
		host, path, _ := strings.Cut(address, "/")
		return v1.NewRouteKey(host, v1.RoutePath{Path: path}) == key ||
			v1.NewRouteKey(host, v1.RoutePath{Path: path, PathType: networkingv1.PathTypeImplementationSpecific}) == key
	})
}

// ValidateRouteOwnership returns an error for each host name and path that belongs to another
// Application. The sync asks for the Application as it is stored.
func ValidateRouteOwnership(app *v1.Application, claimants RouteClaimants) (field.ErrorList, error) {
	return validateRouteOwners(app, claimants, func(v1.RouteKey) bool { return true }, func(key v1.RouteKey, others []*v1.Application) *v1.Application {
		return RouteOwner(key, append(others, app))
	})
}

// ValidateNewRoutes returns an error for each host name and path that old, which may be nil, did not
// ask for and that another Application asks for already, of whatever age: who comes now is later.
func ValidateNewRoutes(app, old *v1.Application, claimants RouteClaimants) (field.ErrorList, error) {
	had := map[v1.RouteKey]bool{}
	if old != nil {
		for _, key := range old.RouteKeys() {
			had[key] = true
		}
	}
	return validateRouteOwners(app, claimants, func(key v1.RouteKey) bool { return !had[key] }, RouteOwner)
}

// validateRouteOwners calls owner for each key that is looked at and has other claimants.
func validateRouteOwners(app *v1.Application, claimants RouteClaimants, looksAt func(v1.RouteKey) bool,
	owner func(v1.RouteKey, []*v1.Application) *v1.Application,
) (field.ErrorList, error) {
	var errs field.ErrorList
	seen := map[v1.RouteKey]bool{}
	for i := range app.Spec.Routes {
		path := field.NewPath("spec", "routes").Index(i).Child("hostnames")
		for j, hostname := range app.Spec.Routes[i].Hostnames {
			for _, key := range routeKeys(hostname, app.Spec.Routes[i].Paths) {
				if seen[key] || !looksAt(key) {
					continue
				}
				seen[key] = true
				all, err := claimants(key)
				if err != nil {
					return nil, fmt.Errorf("find who asks for %s: %w", key, err)
				}
				others := slices.DeleteFunc(slices.Clone(all), func(other *v1.Application) bool { return sameApplication(other, app) })
				if len(others) == 0 {
					continue
				}
				if owner := owner(key, others); !sameApplication(owner, app) {
					errs = append(errs, field.Invalid(path.Index(j), key.String(),
						fmt.Sprintf("belongs to Application %s/%s, which had it first: choose another host name or path", owner.Namespace, owner.Name)))
				}
			}
		}
	}
	return bounded(errs), nil
}

func routeKeys(hostname string, paths []v1.RoutePath) []v1.RouteKey {
	if len(paths) == 0 {
		paths = []v1.RoutePath{{}}
	}
	keys := make([]v1.RouteKey, 0, len(paths))
	for _, path := range paths {
		keys = append(keys, v1.NewRouteKey(hostname, path))
	}
	return keys
}

// sameApplication compares names and not UIDs, since a new object has none.
func sameApplication(a, b *v1.Application) bool {
	return a.Namespace == b.Namespace && a.Name == b.Name
}
