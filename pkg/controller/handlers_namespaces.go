// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// namespaceHandlers queue the Applications of a namespace whose labels changed, if classes select namespaces by labels.
// The class also decides which host names the Applications may have, and which they share. So the Applications of all
// namespaces that were refused one of these host names, or lose one now, are queued, too.
type namespaceHandlers struct {
	informers *informer.Informers
	claimants claimants
	enqueue   func(key cache.ObjectName, trigger workqueue.Trigger)
	statuses  *classStatuses
}

var _ informer.NamespaceHandler = (*namespaceHandlers)(nil)

// OnAdd does nothing: a sync that runs before the namespace is cached fails, and is retried.
func (h *namespaceHandlers) OnAdd(*corev1.Namespace, bool) {}

// OnUpdate queues the Applications of the namespace, and those that were refused one of their host names or lose one.
func (h *namespaceHandlers) OnUpdate(before, after *corev1.Namespace) {
	classes, err := h.informers.Classes()
	if err == nil && !class.NeedsNamespace(classes) || before.UID == after.UID && maps.Equal(before.Labels, after.Labels) {
		return
	}
	h.statuses.all()
	applications, err := h.informers.InNamespace(after.Name)
	if err != nil {
		return // Cannot happen: the informers create the index.
	}
	trigger := workqueue.Trigger{Kind: "Namespace", Event: workqueue.FanOut, ForceFullSync: true}
	for _, application := range applications {
		h.enqueue(cache.MetaObjectToName(application), trigger)
		h.claimants.enqueueClaimants(application.RouteKeys(), trigger)
		h.claimants.enqueueLosersTo(nil, application, trigger)
	}
}

// OnDelete does nothing: the Applications go before their namespace.
func (h *namespaceHandlers) OnDelete(cache.DeletedObject[*corev1.Namespace]) {}
