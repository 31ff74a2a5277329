// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/reference"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// referenceHandlers turn events of ConfigMaps and Secrets into keys. They decide nothing: the sync finds out whether the
// content changed.
type referenceHandlers struct {
	queue  *workqueue.Queue
	memory *memory
	now    func() time.Time
}

var _ informer.ReferenceHandler = (*referenceHandlers)(nil)

// ReferenceAdded queues at once, because an Application may wait for the object. The sync of a running one debounces.
func (h *referenceHandlers) ReferenceAdded(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName) {
	now := h.now()
	for _, application := range applications {
		h.memory.referenceChanged(application, referenced{kind, object.Name}, now)
		h.queue.Add(application, workqueue.Trigger{Kind: string(kind), Event: workqueue.Added, ForceFullSync: true})
	}
}

// ReferenceChanged queues the key for the end of the debounce. If further changes follow, the sync requeues it.
func (h *referenceHandlers) ReferenceChanged(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName) {
	now := h.now()
	for _, application := range applications {
		h.memory.referenceChanged(application, referenced{kind, object.Name}, now)
		h.queue.AddAfter(application, workqueue.Trigger{Kind: string(kind), Event: workqueue.Updated, ForceFullSync: true}, debounceAfter)
	}
}

// ReferencesSynced queues the Applications that waited for the cache, or whose references may not be watched.
func (h *referenceHandlers) ReferencesSynced(kind reference.Kind, applications []cache.ObjectName) {
	for _, application := range applications {
		h.queue.Add(application, workqueue.Trigger{Kind: string(kind), Event: workqueue.Listed, ForceFullSync: true})
	}
}
