// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	externalversions "fairlead.dev/fairlead/pkg/generated/informers/externalversions"
	"fairlead.dev/fairlead/pkg/reference"
)

// scope has the informers of one namespace, or of all.
type scope struct {
	namespace       string
	fairlead        externalversions.SharedInformerFactory
	kube            informers.SharedInformerFactory
	applications    cache.TypedSharedIndexInformer[*v1.Application]
	children        []*children
	pods            *pods
	references      map[reference.Kind]*references
	referrers       *referrers
	instrumentation *instrumentation
	// name names the informers in their metrics.
	name *cache.InformerName
}

func newScope(kube kubernetes.Interface, fairlead versioned.Interface, namespace string, options Options) (*scope, error) {
	instrumentation := newInstrumentation(options.Debug, namespace)
	if err := instrumentation.begin(); err != nil {
		return nil, err
	}
	name := informerName(namespace)
	s := &scope{
		instrumentation: instrumentation,
		name:            name,
		namespace:       namespace,
		fairlead: externalversions.NewSharedInformerFactoryWithOptions(fairlead, options.Resync,
			externalversions.WithNamespace(namespace),
			externalversions.WithInformerName(name),
			externalversions.WithTransform(trimApplication)),
		// Children need no resync: the resync of their Application covers them.
		kube: informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithTransform(encodeChild)),
	}
	recordApplications(instrumentation, s.fairlead)
	s.applications = s.fairlead.Apps().V1().Applications().TypedInformer()
	for _, indexers := range []cache.Indexers{RouteIndexers(), classIndexers(), optionalKindIndexers()} {
		if err := s.applications.AddIndexers(indexers); err != nil {
			return nil, fmt.Errorf("index Applications: %w", err)
		}
	}
	var err error
	if s.children, err = s.newChildren(kube); err != nil {
		return nil, err
	}
	if s.pods, err = newPods(kube, namespace, name, instrumentation); err != nil {
		return nil, err
	}
	if err := s.addReferences(namespace, options); err != nil {
		return nil, err
	}
	return s, s.reportWatchErrors()
}

// reportWatchErrors lets every informer of the scope log why it cannot list or watch.
func (s *scope) reportWatchErrors() error {
	if err := s.applications.SetWatchErrorHandlerWithContext(reportWatchError(v1.ApplicationResource)); err != nil {
		return fmt.Errorf("set watch error handler for Applications: %w", err)
	}
	for _, c := range s.children {
		if err := c.informer.SetWatchErrorHandlerWithContext(reportWatchError(c.kind.Resource)); err != nil {
			return fmt.Errorf("set watch error handler for %s: %w", c.kind, err)
		}
	}
	return nil
}

func (i *Informers) scope(namespace string) (*scope, bool) {
	if s, found := i.scopes[metav1.NamespaceAll]; found {
		return s, true
	}
	s, found := i.scopes[namespace]
	return s, found
}
