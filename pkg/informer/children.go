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

// ChildHandler is called for each event of a child, one call at a time per kind and namespace
// scope. It must be quick: all events of the kind wait for it.
type ChildHandler interface {
	ChildAdded(kind child.Kind, object *child.Packed, initialList bool)
	ChildUpdated(kind child.Kind, before, after *child.Packed)
	// ChildDeleted gets the last known state of the child, which may be older than the one that
	// was deleted.
	ChildDeleted(kind child.Kind, object *child.Packed)
}

// children is the cache of one kind of child in one scope. What is cached is what packChild makes, so the
// informer is typed by that.
type children struct {
	kind     child.Kind
	informer cache.TypedSharedIndexInformer[*child.Packed]
	// empty makes an object of the kind to unpack into.
	empty func() child.Object
}

// newChildren makes an informer for each kind of child. This list and child.Kinds have the same
// kinds; a test compares them.
func newChildren(f informers.SharedInformerFactory) ([]*children, error) {
	all := []*children{
		packed[corev1.ServiceAccount](child.ServiceAccount, f.Core().V1().ServiceAccounts().Informer()),
		packed[corev1.ConfigMap](child.ConfigMap, f.Core().V1().ConfigMaps().Informer()),
		packed[networkingv1.NetworkPolicy](child.NetworkPolicy, f.Networking().V1().NetworkPolicies().Informer()),
		packed[appsv1.ControllerRevision](child.ControllerRevision, f.Apps().V1().ControllerRevisions().Informer()),
		packed[appsv1.Deployment](child.Deployment, f.Apps().V1().Deployments().Informer()),
		packed[corev1.Service](child.Service, f.Core().V1().Services().Informer()),
		packed[autoscalingv2.HorizontalPodAutoscaler](child.HorizontalPodAutoscaler, f.Autoscaling().V2().HorizontalPodAutoscalers().Informer()),
		packed[policyv1.PodDisruptionBudget](child.PodDisruptionBudget, f.Policy().V1().PodDisruptionBudgets().Informer()),
		packed[networkingv1.Ingress](child.Ingress, f.Networking().V1().Ingresses().Informer()),
	}
	for _, c := range all {
		if err := c.addIndexers(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// packed makes the cache of a kind whose objects are Ts.
func packed[T any, P interface {
	*T
	child.Object
}](kind child.Kind, informer cache.SharedIndexInformer) *children {
	return &children{
		kind:     kind,
		informer: cache.NewTypedSharedIndexInformer[*child.Packed](informer),
		empty:    func() child.Object { return P(new(T)) },
	}
}

// addIndexers must be called before the informer runs.
func (c *children) addIndexers() error {
	if err := c.informer.AddTypedIndexers(cache.TypedIndexers[*child.Packed]{byApplication: applicationIndex}); err != nil {
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
	return c.informer.AddTypedEventHandler(cache.TypedResourceEventHandlerDetailedFuncs[*child.Packed]{
		AddFunc: func(object *child.Packed, initialList bool) {
			handler.ChildAdded(c.kind, object, initialList)
		},
		UpdateFunc: func(before, after *child.Packed) {
			// A new UID is a delete that the watch missed, and a create: the old owner must hear of it.
			if before.UID != after.UID {
				handler.ChildDeleted(c.kind, before)
				handler.ChildAdded(c.kind, after, false)
				return
			}
			handler.ChildUpdated(c.kind, before, after)
		},
		DeleteFunc: func(object cache.DeletedObject[*child.Packed]) {
			// Without any known state nobody can tell whose it was; a child was never seen then.
			if object.OptionalObj != nil {
				handler.ChildDeleted(c.kind, object.OptionalObj)
			}
		},
	})
}

// of returns the children of an Application, unpacked: they belong to the caller.
func (c *children) of(application cache.ObjectName) ([]child.Object, error) {
	found, err := c.informer.GetTypedIndexer().ByTypedIndex(byApplication, application.String())
	if err != nil {
		return nil, fmt.Errorf("find %s of %s: %w", c.kind, application, err)
	}
	objects := make([]child.Object, 0, len(found))
	for _, packed := range found {
		object := c.empty()
		if err := packed.UnpackInto(object, c.kind); err != nil {
			return nil, err
		}
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
