// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// URLs are the addresses of the Application from outside of the cluster: for each route, host
// name and path, in the order of the spec, each once. A wildcard stays "*.".
func URLs(app *v1.Application) []string {
	if len(app.Spec.Ports) == 0 {
		return nil
	}
	var urls []string
	seen := map[string]bool{}
	for _, route := range app.Spec.Routes {
		scheme := "http"
		if route.TLS != nil {
			scheme = "https"
		}
		for _, hostname := range route.Hostnames {
			for _, path := range RoutePaths(app, route) {
				url := scheme + "://" + hostname + path.Path
				if !seen[url] {
					seen[url] = true
					urls = append(urls, url)
				}
			}
		}
	}
	return urls
}
