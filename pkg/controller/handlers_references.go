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

// referenceHandlers turn events of ConfigMaps and Secrets into keys. Like handlers they decide
// nothing: the sync finds out whether the content changed.
type referenceHandlers struct {
	queue  *workqueue.Queue
	memory *memory
}

var _ informer.ReferenceHandler = (*referenceHandlers)(nil)

// ReferenceAdded queues at once: an Application may wait for the object to start. One that runs
// waits for quiet in its sync.
func (h *referenceHandlers) ReferenceAdded(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName) {
	now := time.Now()
	for _, application := range applications {
		h.memory.referenceChanged(application, referenced{kind, object.Name}, now)
		h.queue.Add(application, workqueue.Trigger{Kind: string(kind), Event: workqueue.Added, ForceFullSync: true})
	}
}

// ReferenceChanged queues when the change has settled, if it is the last one. If not, the sync
// comes back.
func (h *referenceHandlers) ReferenceChanged(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName) {
	now := time.Now()
	for _, application := range applications {
		h.memory.referenceChanged(application, referenced{kind, object.Name}, now)
		h.queue.AddAfter(application, workqueue.Trigger{Kind: string(kind), Event: workqueue.Updated, ForceFullSync: true}, debounceAfter)
	}
}

// ReferencesSynced queues the Applications that waited for the cache, or would not have needed it.
func (h *referenceHandlers) ReferencesSynced(kind reference.Kind, applications []cache.ObjectName) {
	for _, application := range applications {
		h.queue.Add(application, workqueue.Trigger{Kind: string(kind), Event: workqueue.Listed, ForceFullSync: true})
	}
}
