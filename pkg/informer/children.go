// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
)

// ChildHandler handles the events of children, one call at a time per kind and scope. It must return
// quickly: the later events of the kind wait for it.
type ChildHandler interface {
	ChildAdded(kind child.Kind, object *Encoded, initialList bool)
	ChildUpdated(kind child.Kind, before, after *Encoded)
	// ChildDeleted gets the last known state of the child, which may be older than the one that
	// was deleted.
	ChildDeleted(kind child.Kind, object *Encoded)
}

// children is the cache of one kind of child in one scope. What is cached is what encodeChild makes, so the
// informer is typed by that.
type children struct {
	kind     child.Kind
	informer cache.TypedSharedIndexInformer[*Encoded]
	// empty makes an object of the kind to unpack into.
	empty func() child.Object
}

// newChildren makes an informer for each kind of child. This list and child.Kinds have the same
// kinds; a test compares them.
func newChildren(f informers.SharedInformerFactory) ([]*children, error) {
	all := []*children{
		newChildCache[corev1.ServiceAccount](child.ServiceAccount, f.Core().V1().ServiceAccounts().Informer()),
		newChildCache[corev1.ConfigMap](child.ConfigMap, f.Core().V1().ConfigMaps().Informer()),
		newChildCache[networkingv1.NetworkPolicy](child.NetworkPolicy, f.Networking().V1().NetworkPolicies().Informer()),
		newChildCache[appsv1.ControllerRevision](child.ControllerRevision, f.Apps().V1().ControllerRevisions().Informer()),
		newChildCache[appsv1.Deployment](child.Deployment, f.Apps().V1().Deployments().Informer()),
		newChildCache[corev1.Service](child.Service, f.Core().V1().Services().Informer()),
		newChildCache[autoscalingv2.HorizontalPodAutoscaler](child.HorizontalPodAutoscaler, f.Autoscaling().V2().HorizontalPodAutoscalers().Informer()),
		newChildCache[policyv1.PodDisruptionBudget](child.PodDisruptionBudget, f.Policy().V1().PodDisruptionBudgets().Informer()),
		newChildCache[networkingv1.Ingress](child.Ingress, f.Networking().V1().Ingresses().Informer()),
	}
	for _, c := range all {
		if err := c.addIndexers(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// newChildCache returns the cache of a kind whose objects are Ts.
func newChildCache[T any, P interface {
	*T
	child.Object
}](kind child.Kind, informer cache.SharedIndexInformer) *children {
	return &children{
		kind:     kind,
		informer: cache.NewTypedSharedIndexInformer[*Encoded](informer),
		empty:    func() child.Object { return P(new(T)) },
	}
}

// addIndexers must be called before the informer runs.
func (c *children) addIndexers() error {
	if err := c.informer.AddTypedIndexers(cache.TypedIndexers[*Encoded]{byApplication: applicationIndex}); err != nil {
		return fmt.Errorf("index %s by Application: %w", c.kind, err)
	}
	if !c.kind.CarriesRoutes() {
		return nil
	}
	if err := c.informer.AddIndexers(RouteIndexers()); err != nil {
		return fmt.Errorf("index %s by host name: %w", c.kind, err)
	}
	return nil
}

func (c *children) handle(handler ChildHandler) (cache.ResourceEventHandlerRegistration, error) {
	return c.informer.AddTypedEventHandler(cache.TypedResourceEventHandlerDetailedFuncs[*Encoded]{
		AddFunc: func(object *Encoded, initialList bool) {
			handler.ChildAdded(c.kind, object, initialList)
		},
		UpdateFunc: func(before, after *Encoded) {
			// A new UID is a delete that the watch missed, and a create: the old owner must hear of it.
			if before.UID != after.UID {
				handler.ChildDeleted(c.kind, before)
				handler.ChildAdded(c.kind, after, false)
				return
			}
			handler.ChildUpdated(c.kind, before, after)
		},
		DeleteFunc: func(object cache.DeletedObject[*Encoded]) {
			// Without any known state nobody can tell whose it was; a child was never seen then.
			if object.OptionalObj != nil {
				handler.ChildDeleted(c.kind, object.OptionalObj)
			}
		},
	})
}

// of returns the children of an Application, decoded: they belong to the caller.
func (c *children) of(application cache.ObjectName) ([]child.Object, error) {
	found, err := c.informer.GetTypedIndexer().ByTypedIndex(byApplication, application.String())
	if err != nil {
		return nil, fmt.Errorf("find %s of %s: %w", c.kind, application, err)
	}
	objects := make([]child.Object, 0, len(found))
	for _, encoded := range found {
		object := c.empty()
		if err := encoded.decodeInto(object, c.kind); err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// shows reports whether the cache has an object of this name with this UID that is not being
// deleted. One that is may stay for long, if a finalizer of others holds it.
func hasLive(informer cache.SharedIndexInformer, name cache.ObjectName, uid types.UID) bool {
	found, exists, err := informer.GetStore().GetByKey(name.String())
	if err != nil || !exists {
		return false
	}
	object, err := meta.Accessor(found)
	return err == nil && object.GetUID() == uid && object.GetDeletionTimestamp() == nil
}
