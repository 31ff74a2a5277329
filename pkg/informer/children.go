// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
)

// ChildHandler handles the events of children, one call at a time per kind and scope. It must return
// quickly: the later events of the kind wait for it.
type ChildHandler interface {
	ChildAdded(kind child.Kind, object *Encoded, initialList bool)
	ChildUpdated(kind child.Kind, before, after *Encoded)
	// ChildDeleted gets the last known state of the child, which may be older than its state at the deletion.
	ChildDeleted(kind child.Kind, object *Encoded)
}

// children is the cache of one kind of child in one scope. It holds what encodeChild returns, so the informer has
// that type.
type children struct {
	kind     child.Kind
	informer cache.TypedSharedIndexInformer[*Encoded]
	// empty creates an object of the kind to decode into.
	empty func() child.Object
}

// newChildren creates an informer for each built-in kind of child. A test compares this list with child.Kinds.
func (s *scope) newChildren(client kubernetes.Interface) ([]*children, error) {
	all := []*children{
		newBuiltin[corev1.ServiceAccount](s, child.ServiceAccount, client.CoreV1().ServiceAccounts(s.namespace)),
		newBuiltin[corev1.ConfigMap](s, child.ConfigMap, client.CoreV1().ConfigMaps(s.namespace)),
		newBuiltin[networkingv1.NetworkPolicy](s, child.NetworkPolicy, client.NetworkingV1().NetworkPolicies(s.namespace)),
		newBuiltin[appsv1.ControllerRevision](s, child.ControllerRevision, client.AppsV1().ControllerRevisions(s.namespace)),
		newBuiltin[appsv1.Deployment](s, child.Deployment, client.AppsV1().Deployments(s.namespace)),
		newBuiltin[corev1.Service](s, child.Service, client.CoreV1().Services(s.namespace)),
		newBuiltin[autoscalingv2.HorizontalPodAutoscaler](s, child.HorizontalPodAutoscaler, client.AutoscalingV2().HorizontalPodAutoscalers(s.namespace)),
		newBuiltin[policyv1.PodDisruptionBudget](s, child.PodDisruptionBudget, client.PolicyV1().PodDisruptionBudgets(s.namespace)),
		newBuiltin[networkingv1.Ingress](s, child.Ingress, client.NetworkingV1().Ingresses(s.namespace)),
	}
	for _, c := range all {
		if err := c.addIndexers(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// newBuiltin returns the cache of a built-in kind whose objects are Ts. It creates the informer as the generated code
// would, whose ListerWatcher no recorder could wrap. resource is the client of the kind.
func newBuiltin[T any, P interface {
	*T
	child.Object
}, L runtime.Object](s *scope, kind child.Kind, resource lister[L]) *children {
	informer := s.kube.InformerFor(P(new(T)), func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		options := generated(resync)
		options.Identifier = s.name.WithResource(kind.GroupVersionResource())
		return s.instrumentation.informer(kind.GroupVersionResource(), roleChildren, recordedChild(kind, P(new(T))),
			listerWatcher(client, resource, managedSelector), P(new(T)), options)
	})
	return newChildCache[T, P](kind, informer)
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

// addIndexers adds the indexers. Call it before the informer runs.
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
			// A new UID is a delete that the watch missed, and a create. The old owner must learn of the delete.
			if before.UID != after.UID {
				handler.ChildDeleted(c.kind, before)
				handler.ChildAdded(c.kind, after, false)
				return
			}
			handler.ChildUpdated(c.kind, before, after)
		},
		DeleteFunc: func(object cache.DeletedObject[*Encoded]) {
			// Without a last known state, the owner is unknown; then no handler ever saw the child.
			if object.OptionalObj != nil {
				handler.ChildDeleted(c.kind, object.OptionalObj)
			}
		},
	})
}

// of returns the children of an Application, decoded. The caller owns them.
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

// Children returns the cached children that carry the Application's label or ownerReference. Each call decodes
// them, so the caller owns them.
func (i *Informers) Children(application cache.ObjectName) (map[child.Ref]child.Object, error) {
	s, found := i.scope(application.Namespace)
	if !found {
		return nil, nil
	}
	all := map[child.Ref]child.Object{}
	for _, c := range i.childrenIn(s) {
		objects, err := c.of(application)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			all[child.Ref{Kind: c.kind, Namespace: object.GetNamespace(), Name: object.GetName()}] = object
		}
	}
	return all, nil
}

// childrenIn returns the caches of children that a scope has now.
func (i *Informers) childrenIn(s *scope) []*children {
	all := slices.Clip(s.children)
	for _, o := range i.optional {
		if c, _ := o.in(s.namespace); c != nil {
			all = append(all, c)
		}
	}
	return all
}
