// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/informer"
)

// handlers turn events into keys. They read nothing but the object of the event, and for routes
// indexes, and decide nothing: a key too many costs one sync that finds nothing to do, and the sync
// proves ownership.
type handlers struct {
	enqueue    func(key cache.ObjectName, trigger Trigger)
	contenders contenders
}

var (
	_ informer.ApplicationHandler = (*handlers)(nil)
	_ informer.ChildHandler       = (*handlers)(nil)
	_ informer.PodHandler         = (*handlers)(nil)
)

// OnAdd queues a new Application, or one of the list at the start.
func (h *handlers) OnAdd(application *v1.Application, initialList bool) {
	h.enqueue(cache.MetaObjectToName(application), Trigger{Kind: v1.ApplicationKind, Event: addedOrListed(initialList)})
}

// OnUpdate queues a changed Application. The same resourceVersion means that nothing changed:
// the informer's resync, or a list after a lost watch.
func (h *handlers) OnUpdate(before, after *v1.Application) {
	event := Updated
	if before.ResourceVersion == after.ResourceVersion {
		event = Resynced
	}
	h.enqueue(cache.MetaObjectToName(after), Trigger{Kind: v1.ApplicationKind, Event: event})
	if claimsLess(before, after) {
		h.contenders.wake(before.RouteKeys(), Trigger{Kind: v1.ApplicationKind, Event: event, Elsewhere: true})
	}
}

// OnDelete queues a deleted Application, so that what is remembered about it is dropped.
func (h *handlers) OnDelete(application cache.DeletedObject[*v1.Application]) {
	h.enqueue(application.GetObjectName(), Trigger{Kind: v1.ApplicationKind, Event: Deleted})
	if last := application.OptionalObj; last != nil {
		h.contenders.wake(last.RouteKeys(), Trigger{Kind: v1.ApplicationKind, Event: Deleted, Elsewhere: true})
	}
}

// ChildAdded queues the Applications that the child concerns.
func (h *handlers) ChildAdded(kind child.Kind, object *informer.Encoded, initialList bool) {
	h.owners(object, Trigger{Kind: kind.Kind, Event: addedOrListed(initialList)})
}

// ChildUpdated queues the Applications that the child concerned before and concerns now: an
// ownerReference may have moved.
func (h *handlers) ChildUpdated(kind child.Kind, before, after *informer.Encoded) {
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return
	}
	h.owners(before, Trigger{Kind: kind.Kind, Event: Updated})
	h.owners(after, Trigger{Kind: kind.Kind, Event: Updated})
	if !slices.Equal(before.RouteKeys(), after.RouteKeys()) {
		h.contenders.wake(before.RouteKeys(), Trigger{Kind: kind.Kind, Event: Updated, Elsewhere: true})
	}
}

// ChildDeleted queues the Applications that the child concerned.
func (h *handlers) ChildDeleted(kind child.Kind, object *informer.Encoded) {
	h.owners(object, Trigger{Kind: kind.Kind, Event: Deleted})
	h.contenders.wake(object.RouteKeys(), Trigger{Kind: kind.Kind, Event: Deleted, Elsewhere: true})
}

// Served queues the Applications that have, or may want, children of a kind that came or went.
func (h *handlers) Served(kind child.Kind, applications []cache.ObjectName) {
	for _, application := range applications {
		h.enqueue(application, Trigger{Kind: kind.Kind, Event: Spread, Elsewhere: true})
	}
}

// PodChanged queues the Application of a pod that got into trouble, out of it, or into another one. Pods
// that start and serve wake nobody: what matters of them is counted by the Deployment.
func (h *handlers) PodChanged(before, after *child.Pod, initialList bool) {
	if child.SamePod(before, after) {
		return
	}
	for _, pod := range []*child.Pod{before, after} {
		if pod != nil {
			h.labelled(pod.Namespace, pod.Application, Trigger{Kind: "Pod", Event: happened(before == nil, after == nil, initialList)})
		}
	}
}

// ReplicaSetChanged queues the Application of a ReplicaSet that is new, became the current one, or
// can or cannot make pods. Without its ReplicaSet nobody knows of which revision a pod is.
func (h *handlers) ReplicaSetChanged(before, after *child.ReplicaSet, initialList bool) {
	if child.SameReplicaSet(before, after) {
		return
	}
	for _, replicaSet := range []*child.ReplicaSet{before, after} {
		if replicaSet != nil {
			h.labelled(replicaSet.Namespace, replicaSet.Application, Trigger{Kind: "ReplicaSet", Event: happened(before == nil, after == nil, initialList)})
		}
	}
}

func (h *handlers) labelled(namespace, application string, trigger Trigger) {
	if application != "" {
		h.enqueue(cache.ObjectName{Namespace: namespace, Name: application}, trigger)
	}
}

func happened(isNew, isGone, initialList bool) Event {
	switch {
	case isNew:
		return addedOrListed(initialList)
	case isGone:
		return Deleted
	default:
		return Updated
	}
}

func (h *handlers) owners(object *informer.Encoded, trigger Trigger) {
	for _, application := range informer.ApplicationsOf(object) {
		h.enqueue(application, trigger)
	}
}

func addedOrListed(initialList bool) Event {
	if initialList {
		return Listed
	}
	return Added
}
