// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
)

// ChildHandler is called for each event of a child, one call at a time per kind and namespace
// scope. It must be quick: all events of the kind wait for it.
type ChildHandler interface {
	ChildAdded(kind child.Kind, object child.Object, initialList bool)
	ChildUpdated(kind child.Kind, before, after child.Object)
	// ChildDeleted gets the last known state of the child, which may be older than the one that
	// was deleted.
	ChildDeleted(kind child.Kind, object child.Object)
}

// children is the cache of one kind of child in one scope, its Go type hidden.
type children interface {
	kind() child.Kind
	shared() cache.SharedIndexInformer
	handle(handler ChildHandler) (cache.ResourceEventHandlerRegistration, error)
	of(application cache.ObjectName) ([]child.Object, error)
}

// newChildren makes an informer for each kind of child. This list and child.Kinds have the same
// kinds; a test compares them.
func newChildren(f informers.SharedInformerFactory) ([]children, error) {
	all := []children{
		typed(child.ServiceAccount, f.Core().V1().ServiceAccounts().TypedInformer()),
		typed(child.ConfigMap, f.Core().V1().ConfigMaps().TypedInformer()),
		typed(child.NetworkPolicy, f.Networking().V1().NetworkPolicies().TypedInformer()),
		typed(child.Deployment, f.Apps().V1().Deployments().TypedInformer()),
		typed(child.Service, f.Core().V1().Services().TypedInformer()),
		typed(child.HorizontalPodAutoscaler, f.Autoscaling().V2().HorizontalPodAutoscalers().TypedInformer()),
		typed(child.PodDisruptionBudget, f.Policy().V1().PodDisruptionBudgets().TypedInformer()),
		typed(child.Ingress, f.Networking().V1().Ingresses().TypedInformer()),
	}
	for _, c := range all {
		if err := c.shared().AddIndexers(cache.Indexers{byApplication: applicationIndex}); err != nil {
			return nil, fmt.Errorf("index %s by Application: %w", c.kind(), err)
		}
	}
	return all, nil
}

// childObject is child.Object for type parameters: the typed informers want to compare with nil.
type childObject interface {
	child.Object
	comparable
}

// typedChildren keeps the Go type of a kind where client-go offers it, so that nothing here
// casts an event.
type typedChildren[T childObject] struct {
	childKind child.Kind
	informer  cache.TypedSharedIndexInformer[T]
}

func typed[T childObject](kind child.Kind, informer cache.TypedSharedIndexInformer[T]) children {
	return &typedChildren[T]{childKind: kind, informer: informer}
}

func (c *typedChildren[T]) kind() child.Kind                  { return c.childKind }
func (c *typedChildren[T]) shared() cache.SharedIndexInformer { return c.informer }

func (c *typedChildren[T]) handle(handler ChildHandler) (cache.ResourceEventHandlerRegistration, error) {
	return c.informer.AddTypedEventHandler(cache.TypedResourceEventHandlerDetailedFuncs[T]{
		AddFunc: func(object T, initialList bool) {
			handler.ChildAdded(c.childKind, object, initialList)
		},
		UpdateFunc: func(before, after T) {
			// A new UID is a delete that the watch missed, and a create: the old owner must hear of it.
			if before.GetUID() != after.GetUID() {
				handler.ChildDeleted(c.childKind, before)
				handler.ChildAdded(c.childKind, after, false)
				return
			}
			handler.ChildUpdated(c.childKind, before, after)
		},
		DeleteFunc: func(object cache.DeletedObject[T]) {
			// Without any known state nobody can tell whose it was; a child was never seen then.
			var none T
			if object.OptionalObj != none {
				handler.ChildDeleted(c.childKind, object.OptionalObj)
			}
		},
	})
}

func (c *typedChildren[T]) of(application cache.ObjectName) ([]child.Object, error) {
	found, err := c.informer.GetTypedIndexer().ByTypedIndex(byApplication, application.String())
	if err != nil {
		return nil, fmt.Errorf("find %s of %s: %w", c.childKind, application, err)
	}
	objects := make([]child.Object, 0, len(found))
	for _, object := range found {
		objects = append(objects, object)
	}
	return objects, nil
}

// shows tells whether the cache has an object of this name with this UID that is not being
// deleted. One that is may stay for long, if a finalizer of others holds it.
func shows(informer cache.SharedIndexInformer, name cache.ObjectName, uid types.UID) bool {
	found, exists, err := informer.GetStore().GetByKey(name.String())
	if err != nil || !exists {
		return false
	}
	object, err := meta.Accessor(found)
	return err == nil && object.GetUID() == uid && object.GetDeletionTimestamp() == nil
}
