// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// NamespaceHandler handles the events of namespaces. It must return quickly.
type NamespaceHandler = cache.TypedResourceEventHandler[*corev1.Namespace]

// namespaces is the cache of the labels by which classes select namespaces. It is nil if the controller may not read
// namespaces.
type namespaces struct {
	factory  informers.SharedInformerFactory
	informer cache.TypedSharedIndexInformer[*corev1.Namespace]
}

func newNamespaces(kube kubernetes.Interface) (*namespaces, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithTransform(trimNamespace))
	informer := factory.Core().V1().Namespaces().TypedInformer()
	if err := informer.SetWatchErrorHandlerWithContext(reportWatchError("namespaces")); err != nil {
		return nil, fmt.Errorf("set watch error handler for namespaces: %w", err)
	}
	return &namespaces{factory: factory, informer: informer}, nil
}

func (n *namespaces) start(ctx context.Context) {
	if n != nil {
		n.factory.StartWithContext(ctx)
	}
}

func (n *namespaces) shutdown() {
	if n != nil {
		n.factory.Shutdown()
	}
}

// trimNamespace keeps the labels by which classes select, and what an informer needs.
func trimNamespace(object any) (any, error) {
	namespace, ok := object.(*corev1.Namespace)
	if !ok {
		return object, nil
	}
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namespace.Name, UID: namespace.UID, ResourceVersion: namespace.ResourceVersion, Labels: namespace.Labels,
	}}, nil
}

// HandleNamespaces registers a handler and returns what to wait for, like Handle.
func (i *Informers) HandleNamespaces(handler NamespaceHandler) ([]cache.DoneChecker, error) {
	if i.namespaces == nil {
		return nil, nil
	}
	registration, err := i.namespaces.informer.AddTypedEventHandler(handler)
	if err != nil {
		return nil, fmt.Errorf("handle namespaces: %w", err)
	}
	return []cache.DoneChecker{registration.HasSyncedChecker()}, nil
}

// ReadsNamespaces reports whether the controller may read namespaces.
func (i *Informers) ReadsNamespaces() bool { return i.namespaces != nil }

// NamespaceLabels returns the labels of a namespace. The cache owns them: never change them. found is false if the
// cache lacks the namespace, because it may lag behind the cache of Applications.
func (i *Informers) NamespaceLabels(name string) (labels map[string]string, found bool) {
	if i.namespaces == nil {
		return nil, false
	}
	object, exists, err := i.namespaces.informer.GetStore().GetByKey(name)
	namespace, ok := object.(*corev1.Namespace)
	if err != nil || !exists || !ok {
		return nil, false
	}
	return namespace.Labels, true
}

// InNamespace returns the cached Applications of a namespace, in no order. The cache owns them: never change them.
func (i *Informers) InNamespace(namespace string) ([]*v1.Application, error) {
	s, found := i.scope(namespace)
	if !found {
		return nil, nil
	}
	applications, err := s.applications.GetTypedIndexer().ByTypedIndex(cache.NamespaceIndex, namespace)
	if err != nil {
		return nil, fmt.Errorf("find the Applications of namespace %q: %w", namespace, err)
	}
	return applications, nil
}
