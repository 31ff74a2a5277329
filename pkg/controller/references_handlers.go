// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/informer"
	"fairlead.dev/fairlead/pkg/reference"
)

// referenceHandlers turn events of ConfigMaps and Secrets into keys. Like handlers they decide
// nothing: the sync finds out whether the content changed.
type referenceHandlers struct {
	queue    *queue
	settling *settling
}

var _ informer.ReferenceHandler = (*referenceHandlers)(nil)

// ReferenceAdded queues at once: an Application may wait for the object to start. One that runs
// waits for quiet in its sync.
func (h *referenceHandlers) ReferenceAdded(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName) {
	h.settling.changed(kind, object, time.Now())
	for _, application := range applications {
		h.queue.enqueue(application, Trigger{Kind: string(kind), Event: Added, Elsewhere: true})
	}
}

// ReferenceChanged queues when the change has settled, if it is the last one. If not, the sync
// comes back.
func (h *referenceHandlers) ReferenceChanged(kind reference.Kind, object cache.ObjectName, applications []cache.ObjectName) {
	h.settling.changed(kind, object, time.Now())
	for _, application := range applications {
		h.queue.enqueueAfter(application, Trigger{Kind: string(kind), Event: Updated, Elsewhere: true}, quietTime)
	}
}

// ReferencesSynced queues the Applications that waited for the cache, or would not have needed it.
func (h *referenceHandlers) ReferencesSynced(kind reference.Kind, applications []cache.ObjectName) {
	for _, application := range applications {
		h.queue.enqueue(application, Trigger{Kind: string(kind), Event: Listed, Elsewhere: true})
	}
}
