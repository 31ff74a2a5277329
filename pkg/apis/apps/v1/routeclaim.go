// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// RouteClaim is that an Application asks for a host name, or that its Ingress or HTTPRoute serves it.
type RouteClaim struct {
	// Application is as it is stored. Of one that is gone, and whose routes are not gone, it has
	// namespace and name only.
	Application *Application
	// Host is the host name, which may be a wildcard.
	Host string
	// Serves is whether a live route has the host name, whatever the spec asks for. Otherwise the spec
	// asks for it.
	Serves bool
}
