// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// noClass is the index key of Applications without a class name.
const noClass = ""

// classHandlers queue the Applications that an event of a class concerns, and the class itself, whose status counts
// them. The informer makes one call at a time.
type classHandlers struct {
	informers *informer.Informers
	claimants claimants
	enqueue   func(key cache.ObjectName, trigger workqueue.Trigger)
	statuses  *classStatuses
}

var _ informer.ClassHandler = (*classHandlers)(nil)

// OnAdd queues the Applications that waited for the class. At the start, the list of Applications has queued them.
func (h *classHandlers) OnAdd(added *v1.ApplicationClass, initialList bool) {
	if initialList {
		h.statuses.later(added.Name)
		return
	}
	h.changed(added.Name, class.IsMarkedDefault(added))
}

// OnUpdate queues the Applications of a class if its spec changed, or if it became the default or ceased to be it. A
// status that the controller wrote concerns no Application.
func (h *classHandlers) OnUpdate(before, after *v1.ApplicationClass) {
	was, is := class.IsMarkedDefault(before), class.IsMarkedDefault(after)
	if before.UID == after.UID && before.Generation == after.Generation && was == is {
		h.statuses.later(after.Name)
		return
	}
	h.changed(after.Name, was || is)
}

// OnDelete queues the Applications that lost their class.
func (h *classHandlers) OnDelete(deleted cache.DeletedObject[*v1.ApplicationClass]) {
	last := deleted.OptionalObj
	h.changed(deleted.GetName(), last == nil || class.IsMarkedDefault(last))
}

// changed queues the Applications of the class. If it was or is marked as the default, it also queues those that name no
// class: whether it is the default of a namespace depends on its selector and the other classes.
func (h *classHandlers) changed(name string, isDefault bool) {
	h.queueAll(name)
	h.statuses.later(name)
	if isDefault {
		// The default that lost or won must report that, too.
		h.statuses.all()
		h.queueAll(noClass)
	}
	h.queueRefusedRoutes()
	h.queueLosers(name)
	if isDefault {
		h.queueLosers(noClass)
	}
}

// queueLosers queues the Applications of other classes that lose a host name, because Applications of this class, or without one,
// do not share it any more.
func (h *classHandlers) queueLosers(name string) {
	classes, err := h.informers.Classes()
	if err == nil && !slices.ContainsFunc(classes, sharesHosts) {
		return
	}
	applications, err := h.informers.OfClass(name)
	if err != nil {
		return // Cannot happen: the informers create the index.
	}
	trigger := workqueue.Trigger{Kind: v1.ApplicationClassKind, Event: workqueue.FanOut, ForceFullSync: true}
	for _, application := range applications {
		h.claimants.enqueueLosersTo(nil, application, trigger)
	}
}

// queueRefusedRoutes queues all Applications that wait for a host name, whatever their class: the class of the
// Application that has the host name may share it now.
func (h *classHandlers) queueRefusedRoutes() {
	h.informers.VisitApplications(func(application *v1.Application) {
		if hasRefusedRoute(application) {
			h.enqueue(cache.MetaObjectToName(application), workqueue.Trigger{Kind: v1.ApplicationClassKind, Event: workqueue.FanOut, ForceFullSync: true})
		}
	})
}

// queueAll queues the Applications that name the class, or none. Their deadline lets edits of single Applications go
// first.
func (h *classHandlers) queueAll(name string) {
	applications, err := h.informers.OfClass(name)
	if err != nil {
		return // Cannot happen: the informers create the index.
	}
	for _, application := range applications {
		h.enqueue(cache.MetaObjectToName(application), workqueue.Trigger{Kind: v1.ApplicationClassKind, Event: workqueue.FanOut, ForceFullSync: true})
	}
}
