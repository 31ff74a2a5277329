// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// LastResourceVersion and HasLive implement consistency.Caches.

// LastResourceVersion returns the newest resourceVersion that the cache of the resource has observed.
func (i *Informers) LastResourceVersion(resource schema.GroupVersionResource, namespace string) string {
	informer, found := i.informer(resource, namespace)
	if !found {
		return ""
	}
	return informer.GetStore().LastStoreSyncResourceVersion()
}

// HasLive reports whether the cache has an object of this name with this UID that is not being deleted.
func (i *Informers) HasLive(resource schema.GroupVersionResource, object cache.ObjectName, uid types.UID) bool {
	informer, found := i.informer(resource, object.Namespace)
	return found && hasLive(informer, object, uid)
}

func (i *Informers) informer(resource schema.GroupVersionResource, namespace string) (cache.SharedIndexInformer, bool) {
	s, found := i.scope(namespace)
	if !found {
		return nil, false
	}
	if resource == applicationsGVR {
		return s.applications, true
	}
	for _, c := range i.childrenIn(s) {
		if c.kind.GroupVersionResource() == resource {
			return c.informer, true
		}
	}
	return nil, false
}

// hasLive reports whether the cache has an object with this name and UID that is not being deleted. One that is being
// deleted may stay for long, if another controller's finalizer holds it.
func hasLive(informer cache.SharedIndexInformer, name cache.ObjectName, uid types.UID) bool {
	found, exists, err := informer.GetStore().GetByKey(name.String())
	if err != nil || !exists {
		return false
	}
	object, err := meta.Accessor(found)
	return err == nil && object.GetUID() == uid && object.GetDeletionTimestamp() == nil
}
