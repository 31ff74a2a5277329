// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	"fairlead.dev/fairlead/pkg/generated/informers/externalversions"
)

// byApplication finds objects by the Application that their label names.
const byApplication = "application"

// caches are the informers of this server. They keep only what views and trees show.
type caches struct {
	kube         informers.SharedInformerFactory
	fairlead     externalversions.SharedInformerFactory
	applications cache.TypedSharedIndexInformer[*v1.Application]
	pods         cache.TypedSharedIndexInformer[*pod]
	replicaSets  cache.TypedSharedIndexInformer[*appsv1.ReplicaSet]
	slices       cache.TypedSharedIndexInformer[*discoveryv1.EndpointSlice]
}

func newCaches(kube kubernetes.Interface, fairlead versioned.Interface) (*caches, error) {
	const never time.Duration = 0
	c := &caches{
		fairlead: externalversions.NewSharedInformerFactoryWithOptions(fairlead, never, externalversions.WithTransform(trim)),
		kube: informers.NewSharedInformerFactoryWithOptions(kube, never, informers.WithTransform(trim),
			informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = v1.LabelApplication })),
	}
	c.applications = cache.NewTypedSharedIndexInformer[*v1.Application](c.fairlead.Apps().V1().Applications().Informer())
	// The caches hold what trim returns, so the informers have its types.
	c.pods = cache.NewTypedSharedIndexInformer[*pod](c.kube.Core().V1().Pods().Informer())
	c.replicaSets = cache.NewTypedSharedIndexInformer[*appsv1.ReplicaSet](c.kube.Apps().V1().ReplicaSets().Informer())
	c.slices = cache.NewTypedSharedIndexInformer[*discoveryv1.EndpointSlice](c.kube.Discovery().V1().EndpointSlices().Informer())
	if err := c.pods.AddTypedIndexers(cache.TypedIndexers[*pod]{byApplication: func(p *pod) ([]string, error) {
		return []string{cache.ObjectName{Namespace: p.Namespace, Name: p.Application}.String()}, nil
	}}); err != nil {
		return nil, fmt.Errorf("index pods by Application: %w", err)
	}
	if err := c.replicaSets.AddTypedIndexers(cache.TypedIndexers[*appsv1.ReplicaSet]{byApplication: labelled[*appsv1.ReplicaSet]}); err != nil {
		return nil, fmt.Errorf("index ReplicaSets by Application: %w", err)
	}
	if err := c.slices.AddTypedIndexers(cache.TypedIndexers[*discoveryv1.EndpointSlice]{byApplication: labelled[*discoveryv1.EndpointSlice]}); err != nil {
		return nil, fmt.Errorf("index EndpointSlices by Application: %w", err)
	}
	return c, nil
}

func labelled[T metav1.Object](object T) ([]string, error) {
	return []string{cache.ObjectName{Namespace: object.GetNamespace(), Name: object.GetLabels()[v1.LabelApplication]}.String()}, nil
}

// trim returns the cached form of an object. The reflector may call it more than once for one object.
func trim(object any) (any, error) {
	switch o := object.(type) {
	case *v1.Application:
		return trimApplication(o), nil
	case *corev1.Pod:
		return newPod(o), nil
	case *appsv1.ReplicaSet:
		o.ManagedFields, o.Spec.Template = nil, corev1.PodTemplateSpec{}
		return o, nil
	case *discoveryv1.EndpointSlice:
		o.ManagedFields = nil
		return o, nil
	default:
		return object, nil
	}
}

// start starts the informers. They end with the context.
func (c *caches) start(ctx context.Context) {
	c.kube.StartWithContext(ctx)
	c.fairlead.StartWithContext(ctx)
}

// shutdown waits until the informers have ended.
func (c *caches) shutdown() {
	c.kube.Shutdown()
	c.fairlead.Shutdown()
}

func (c *caches) application(name cache.ObjectName) (*v1.Application, bool) {
	object, found, err := c.applications.GetTypedIndexer().GetByKey(name.String())
	application, ok := object.(*v1.Application)
	return application, found && ok && err == nil
}

// podsOf returns the pods with the Application's label, in the order of their names.
func (c *caches) podsOf(name cache.ObjectName) ([]*pod, error) {
	found, err := c.pods.GetTypedIndexer().ByTypedIndex(byApplication, name.String())
	if err != nil {
		return nil, fmt.Errorf("find pods of %s: %w", name, err)
	}
	return byName(found), nil
}

// family returns what the caches have below an Application.
func (c *caches) family(application *v1.Application, name cache.ObjectName) (family, error) {
	pods, err := c.podsOf(name)
	if err != nil {
		return family{}, err
	}
	replicaSets, err := c.replicaSets.GetTypedIndexer().ByTypedIndex(byApplication, name.String())
	if err != nil {
		return family{}, fmt.Errorf("find ReplicaSets of %s: %w", name, err)
	}
	endpoints, err := c.slices.GetTypedIndexer().ByTypedIndex(byApplication, name.String())
	if err != nil {
		return family{}, fmt.Errorf("find EndpointSlices of %s: %w", name, err)
	}
	return family{application: application, replicaSets: byName(replicaSets), pods: pods, slices: byName(endpoints)}, nil
}

func byName[T metav1.Object](objects []T) []T {
	slices.SortFunc(objects, func(a, b T) int {
		switch {
		case a.GetName() < b.GetName():
			return -1
		case a.GetName() > b.GetName():
			return 1
		default:
			return 0
		}
	})
	return objects
}
