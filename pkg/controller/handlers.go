// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// handlers turn events into keys. They read only the object of the event, and indexes for routes. They decide nothing: a
// key too many costs one sync that finds nothing to do, and the sync proves ownership.
type handlers struct {
	enqueue   func(key cache.ObjectName, trigger workqueue.Trigger)
	claimants claimants
}

var (
	_ informer.ApplicationHandler = (*handlers)(nil)
	_ informer.ChildHandler       = (*handlers)(nil)
	_ informer.PodHandler         = (*handlers)(nil)
)

// OnAdd queues a new Application, or one in the initial list.
func (h *handlers) OnAdd(application *v1.Application, initialList bool) {
	h.enqueue(cache.MetaObjectToName(application), workqueue.Trigger{Kind: v1.ApplicationKind, Event: addedOrListed(initialList)})
}

// OnUpdate queues a changed Application. An equal resourceVersion means that nothing changed: the informer resyncs, or
// relisted after a lost watch.
func (h *handlers) OnUpdate(before, after *v1.Application) {
	event := workqueue.Updated
	if before.ResourceVersion == after.ResourceVersion {
		event = workqueue.Resynced
	}
	h.enqueue(cache.MetaObjectToName(after), workqueue.Trigger{Kind: v1.ApplicationKind, Event: event})
	if before.Spec.ClassName != after.Spec.ClassName {
		h.claimants.enqueueLosersTo(before, after, workqueue.Trigger{Kind: v1.ApplicationKind, Event: event, ForceFullSync: true})
	}
	if claimsLess(before, after) {
		h.claimants.enqueueClaimants(before.RouteKeys(), workqueue.Trigger{Kind: v1.ApplicationKind, Event: event, ForceFullSync: true})
		if after.Spec.ReconcilePolicy.Withholds() { // Their status says of a route that this one gave it up: it may ask for it again.
			h.claimants.enqueueClaimants(after.RouteKeys(), workqueue.Trigger{Kind: v1.ApplicationKind, Event: event, ForceFullSync: true})
		}
	}
}

// OnDelete queues a deleted Application, so that a sync forgets it.
func (h *handlers) OnDelete(application cache.DeletedObject[*v1.Application]) {
	h.enqueue(application.GetObjectName(), workqueue.Trigger{Kind: v1.ApplicationKind, Event: workqueue.Deleted})
	if last := application.OptionalObj; last != nil {
		h.claimants.enqueueClaimants(last.RouteKeys(), workqueue.Trigger{Kind: v1.ApplicationKind, Event: workqueue.Deleted, ForceFullSync: true})
	}
}

// ChildAdded queues the Applications that the child concerns.
func (h *handlers) ChildAdded(kind child.Kind, object *informer.Encoded, initialList bool) {
	h.owners(object, workqueue.Trigger{Kind: kind.Kind, Event: addedOrListed(initialList)})
}

// ChildUpdated queues the Applications that the child concerned before and concerns now: an
// ownerReference may have moved.
func (h *handlers) ChildUpdated(kind child.Kind, before, after *informer.Encoded) {
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return
	}
	h.owners(before, workqueue.Trigger{Kind: kind.Kind, Event: workqueue.Updated})
	h.owners(after, workqueue.Trigger{Kind: kind.Kind, Event: workqueue.Updated})
	if !slices.Equal(before.RouteKeys(), after.RouteKeys()) {
		h.claimants.enqueueClaimants(before.RouteKeys(), workqueue.Trigger{Kind: kind.Kind, Event: workqueue.Updated, ForceFullSync: true})
	}
}

// ChildDeleted queues the Applications that the child concerned.
func (h *handlers) ChildDeleted(kind child.Kind, object *informer.Encoded) {
	h.owners(object, workqueue.Trigger{Kind: kind.Kind, Event: workqueue.Deleted})
	h.claimants.enqueueClaimants(object.RouteKeys(), workqueue.Trigger{Kind: kind.Kind, Event: workqueue.Deleted, ForceFullSync: true})
}

// Served queues the Applications that have, or may want, children of a kind whose availability changed.
func (h *handlers) Served(kind child.Kind, applications []cache.ObjectName) {
	for _, application := range applications {
		h.enqueue(application, workqueue.Trigger{Kind: kind.Kind, Event: workqueue.FanOut, ForceFullSync: true})
	}
}

// PodChanged queues the Application of a pod whose problems changed. Pods that start and serve queue nothing, because
// the status of the Deployment counts them.
func (h *handlers) PodChanged(before, after *child.Pod, initialList bool) {
	if child.SamePod(before, after) {
		return
	}
	for _, pod := range []*child.Pod{before, after} {
		if pod != nil {
			h.labelled(pod.Namespace, pod.Application, workqueue.Trigger{Kind: "Pod", Event: happened(before == nil, after == nil, initialList)})
		}
	}
}

// ReplicaSetChanged queues the Application of a ReplicaSet that is new, became the current one, or whose pod creation
// began to fail or to work. Without its ReplicaSet, the revision of a pod is unknown.
func (h *handlers) ReplicaSetChanged(before, after *child.ReplicaSet, initialList bool) {
	if child.SameReplicaSet(before, after) {
		return
	}
	for _, replicaSet := range []*child.ReplicaSet{before, after} {
		if replicaSet != nil {
			h.labelled(replicaSet.Namespace, replicaSet.Application, workqueue.Trigger{Kind: "ReplicaSet", Event: happened(before == nil, after == nil, initialList)})
		}
	}
}

func (h *handlers) labelled(namespace, application string, trigger workqueue.Trigger) {
	if application != "" {
		h.enqueue(cache.ObjectName{Namespace: namespace, Name: application}, trigger)
	}
}

func happened(isNew, isGone, initialList bool) workqueue.Event {
	switch {
	case isNew:
		return addedOrListed(initialList)
	case isGone:
		return workqueue.Deleted
	default:
		return workqueue.Updated
	}
}

func (h *handlers) owners(object *informer.Encoded, trigger workqueue.Trigger) {
	for _, application := range informer.ApplicationsOf(object) {
		h.enqueue(application, trigger)
	}
}

func addedOrListed(initialList bool) workqueue.Event {
	if initialList {
		return workqueue.Listed
	}
	return workqueue.Added
}
