// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// byRoute is the name of the index that finds the Applications that ask for a host name and path.
const byRoute = "route"

// routeIndexers are added to the informers of Applications.
func routeIndexers() cache.Indexers {
	return cache.Indexers{byRoute: routeIndex}
}

// routeIndex is the index function behind byRoute.
func routeIndex(object any) ([]string, error) {
	application, ok := object.(*v1.Application)
	if !ok {
		return nil, fmt.Errorf("index routes: %T is no Application", object)
	}
	keys := application.RouteKeys()
	values := make([]string, 0, len(keys))
	for _, key := range keys {
		values = append(values, key.String())
	}
	return values, nil
}

// RouteClaimants returns the cached Applications, of all watched namespaces and in no order, whose
// routes ask for the key. They belong to the cache: never change them.
func (i *Informers) RouteClaimants(key v1.RouteKey) ([]*v1.Application, error) {
	var claimants []*v1.Application
	for _, s := range i.scopes {
		objects, err := s.applications.GetIndexer().ByIndex(byRoute, key.String())
		if err != nil {
			return nil, fmt.Errorf("find the Applications with route %s: %w", key, err)
		}
		for _, object := range objects {
			application, ok := object.(*v1.Application)
			if !ok {
				return nil, fmt.Errorf("the cache of Applications has a %T", object)
			}
			claimants = append(claimants, application)
		}
	}
	return claimants, nil
}
