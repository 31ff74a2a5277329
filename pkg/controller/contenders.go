// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// contenders queues the other Applications that ask for a host name and path of this one: whose it is
// may have changed. Where an Application shares nothing, which is nearly always, it is a look into an
// index for each of its routes.
func (h *handlers) contenders(application *v1.Application, event Event) {
	self := cache.MetaObjectToName(application)
	for _, key := range application.RouteKeys() {
		// The index is there as long as the informer is, so there is no error that could be met.
		claimants, _ := h.claimants(key)
		for _, claimant := range claimants {
			if name := cache.MetaObjectToName(claimant); name != self {
				h.enqueue(name, Trigger{Kind: v1.ApplicationKind, Event: event, Elsewhere: true})
			}
		}
	}
}

// routesChanged tells whether what the owner of a host name and path depends on has changed: which
// ones an Application asks for, and which it serves.
func routesChanged(before, after *v1.Application) bool {
	return !slices.Equal(before.Status.URLs, after.Status.URLs) || !slices.Equal(before.RouteKeys(), after.RouteKeys())
}
