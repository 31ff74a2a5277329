// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// noClass stands for the class of Applications that name none.
const noClass = ""

// classHandlers queue the Applications that an event of a class concerns, and the class itself, whose
// status counts them. The informer calls them one at a time.
type classHandlers struct {
	informers *informer.Informers
	enqueue   func(key cache.ObjectName, trigger workqueue.Trigger)
	statuses  *classStatuses
}

var _ informer.ClassHandler = (*classHandlers)(nil)

// OnAdd queues the Applications that waited for the class. Those of the list at the start have been
// listed too.
func (h *classHandlers) OnAdd(added *v1.ApplicationClass, initialList bool) {
	if initialList {
		h.statuses.later(added.Name)
		return
	}
	h.changed(added.Name, class.IsMarkedDefault(added))
}

// OnUpdate queues the Applications of a class whose spec changed, or which became or ceased to be
// the default. The status of the class, which is written here, concerns no Application.
func (h *classHandlers) OnUpdate(before, after *v1.ApplicationClass) {
	was, is := class.IsMarkedDefault(before), class.IsMarkedDefault(after)
	if before.UID == after.UID && before.Generation == after.Generation && was == is {
		h.statuses.later(after.Name)
		return
	}
	h.changed(after.Name, was || is)
}

// OnDelete queues the Applications that have no class any more.
func (h *classHandlers) OnDelete(deleted cache.DeletedObject[*v1.ApplicationClass]) {
	last := deleted.OptionalObj
	h.changed(deleted.GetName(), last == nil || class.IsMarkedDefault(last))
}

// changed queues the Applications of the class, and those that name none, if it was or is marked as the default: in
// which namespaces it is, its selector and the other classes decide.
func (h *classHandlers) changed(name string, isDefault bool) {
	h.queueAll(name)
	h.statuses.later(name)
	if isDefault {
		// Whichever class lost against it, or wins now, says so too.
		h.statuses.all()
		h.queueAll(noClass)
	}
	h.queueRefusedRoutes()
}

// queueRefusedRoutes queues the Applications, of whatever class, that wait for a host name: the class of the one
// that has it may share it now.
func (h *classHandlers) queueRefusedRoutes() {
	h.informers.VisitApplications(func(application *v1.Application) {
		if hasRefusedRoute(application) {
			h.enqueue(cache.MetaObjectToName(application), workqueue.Trigger{Kind: v1.ApplicationClassKind, Event: workqueue.FanOut, ForceFullSync: true})
		}
	})
}

// queueAll queues the Applications that name the class, or none. Whoever changed an Application
// itself goes first.
func (h *classHandlers) queueAll(name string) {
	applications, err := h.informers.OfClass(name)
	if err != nil {
		return // There is no such index; the informers have made it.
	}
	for _, application := range applications {
		h.enqueue(cache.MetaObjectToName(application), workqueue.Trigger{Kind: v1.ApplicationClassKind, Event: workqueue.FanOut, ForceFullSync: true})
	}
}
