// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/class"
	"fairlead.dev/fairlead/pkg/informer"
)

// resolve takes the classes from the cache and returns what that of the Application makes of it.
// Nothing of it is ever written into the spec.
func (c *Controller) resolve(application *v1.Application) (class.Resolution, error) {
	classes, err := c.Informers.Classes()
	if err != nil {
		return class.Resolution{}, fmt.Errorf("list ApplicationClasses: %w", err)
	}
	return class.Resolve(application, classes), nil
}

// noClass stands for the class of Applications that name none.
const noClass = ""

// classHandlers queue the Applications that an event of a class concerns, and the class itself, whose
// status counts them. The informer calls them one at a time.
type classHandlers struct {
	informers *informer.Informers
	enqueue   func(key cache.ObjectName, trigger Trigger)
	statuses  *classStatuses
	// chosen was the default class when it was asked for last.
	chosen string
}

var _ informer.ClassHandler = (*classHandlers)(nil)

// OnAdd queues the Applications that waited for the class. Those of the list at the start have been
// listed too.
func (h *classHandlers) OnAdd(added *v1.ApplicationClass, initialList bool) {
	if initialList {
		h.chosen = h.defaultClass()
		h.statuses.later(added.Name)
		return
	}
	h.changed(added.Name)
}

// OnUpdate queues the Applications of a class whose spec changed, or which became or ceased to be
// the default. The status of the class, which is written here, concerns no Application.
func (h *classHandlers) OnUpdate(before, after *v1.ApplicationClass) {
	if before.UID == after.UID && before.Generation == after.Generation && class.IsMarkedDefault(before) == class.IsMarkedDefault(after) {
		h.statuses.later(after.Name)
		return
	}
	h.changed(after.Name)
}

// OnDelete queues the Applications that have no class any more.
func (h *classHandlers) OnDelete(deleted cache.DeletedObject[*v1.ApplicationClass]) {
	h.changed(deleted.GetName())
}

// changed queues the Applications of the class; and those that name none, if the class is the
// default, or another one is from now on.
func (h *classHandlers) changed(name string) {
	h.queueAll(name)
	h.statuses.later(name)
	was, is := h.chosen, h.defaultClass()
	h.chosen = is
	if was != is {
		// Whoever lost against the new one says so too, so all are counted anew.
		h.statuses.all()
	}
	if was != is || is == name {
		h.queueAll(noClass)
	}
}

// queueAll queues the Applications that name the class, or none. Whoever changed an Application
// itself goes first.
func (h *classHandlers) queueAll(name string) {
	applications, err := h.informers.OfClass(name)
	if err != nil {
		return // There is no such index; the informers have made it.
	}
	for _, application := range applications {
		h.enqueue(cache.MetaObjectToName(application), Trigger{Kind: v1.ApplicationClassKind, Event: Spread, Elsewhere: true})
	}
}

// defaultClass is the name of the present default class, or "".
func (h *classHandlers) defaultClass() string {
	classes, err := h.informers.Classes()
	if err != nil {
		return h.chosen
	}
	if chosen := class.Default(classes); chosen != nil {
		return chosen.Name
	}
	return ""
}
