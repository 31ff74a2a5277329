// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// PodHandler handles the events of pods and ReplicaSets. before is nil for a new object, after for a deleted
// one. It must return quickly: pods change often, and most changes mean nothing.
type PodHandler interface {
	PodChanged(before, after *child.Pod, initialList bool)
	ReplicaSetChanged(before, after *child.ReplicaSet, initialList bool)
}

// pods has the caches of the pods and ReplicaSets in one scope. The controller never writes pods or ReplicaSets.
//
// The selector is the label by which the Deployment itself selects: a pod without it no longer belongs to the
// Deployment. (A user may remove the managed-by label of the children from a pod that continues to serve.) The cache
// keeps a few hundred bytes of each object; see child.Pod.
//
// ReplicaSets are watched whole, although metadata would show whose pods are current. Their condition ReplicaFailure
// says why this revision gets no pods, while the Deployment may repeat the failure of an older one.
type pods struct {
	factory     informers.SharedInformerFactory
	pods        cache.TypedSharedIndexInformer[*child.Pod]
	replicaSets cache.TypedSharedIndexInformer[*child.ReplicaSet]
}

func newPods(kube kubernetes.Interface, namespace string, name *cache.InformerName, instrumentation *instrumentation) (*pods, error) {
	const never time.Duration = 0
	factory := informers.NewSharedInformerFactoryWithOptions(kube, never,
		informers.WithNamespace(namespace),
		informers.WithInformerName(name),
		informers.WithTransform(trimPod),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = v1.LabelApplication }))
	recordPods(instrumentation, factory)
	p := &pods{
		factory: factory,
		// The caches hold what trimPod returns, so the informers have its types.
		pods:        cache.NewTypedSharedIndexInformer[*child.Pod](factory.Core().V1().Pods().Informer()),
		replicaSets: cache.NewTypedSharedIndexInformer[*child.ReplicaSet](factory.Apps().V1().ReplicaSets().Informer()),
	}
	if err := p.pods.AddTypedIndexers(cache.TypedIndexers[*child.Pod]{byApplication: func(pod *child.Pod) ([]string, error) {
		return []string{cache.ObjectName{Namespace: pod.Namespace, Name: pod.Application}.String()}, nil
	}}); err != nil {
		return nil, fmt.Errorf("index pods by Application: %w", err)
	}
	if err := p.replicaSets.AddTypedIndexers(cache.TypedIndexers[*child.ReplicaSet]{byApplication: func(replicaSet *child.ReplicaSet) ([]string, error) {
		return []string{cache.ObjectName{Namespace: replicaSet.Namespace, Name: replicaSet.Application}.String()}, nil
	}}); err != nil {
		return nil, fmt.Errorf("index ReplicaSets by Application: %w", err)
	}
	if err := p.pods.SetWatchErrorHandlerWithContext(reportWatchError("pods")); err != nil {
		return nil, fmt.Errorf("set watch error handler for pods: %w", err)
	}
	if err := p.replicaSets.SetWatchErrorHandlerWithContext(reportWatchError("replicasets")); err != nil {
		return nil, fmt.Errorf("set watch error handler for ReplicaSets: %w", err)
	}
	return p, nil
}

// trimPod returns the cached form of pods and ReplicaSets. The reflector may call it more than once for one
// object.
func trimPod(object any) (any, error) {
	switch o := object.(type) {
	case *corev1.Pod:
		return child.NewPod(o), nil
	case *appsv1.ReplicaSet:
		return child.NewReplicaSet(o), nil
	default:
		return object, nil
	}
}

// HandlePods registers a handler of pods and ReplicaSets and returns what to wait for, like Handle.
func (i *Informers) HandlePods(handler PodHandler) ([]cache.DoneChecker, error) {
	var synced []cache.DoneChecker
	for _, s := range i.scopes {
		replicaSets, err := s.pods.replicaSets.AddTypedEventHandler(instrumentedChanges(s.instrumentation.resource(replicaSetsGVR, rolePods), changes[*child.ReplicaSet](handler.ReplicaSetChanged)))
		if err != nil {
			return nil, fmt.Errorf("handle ReplicaSets: %w", err)
		}
		pods, err := s.pods.pods.AddTypedEventHandler(instrumentedChanges(s.instrumentation.resource(podsGVR, rolePods), changes[*child.Pod](handler.PodChanged)))
		if err != nil {
			return nil, fmt.Errorf("handle pods: %w", err)
		}
		synced = append(synced, replicaSets.HasSyncedChecker(), pods.HasSyncedChecker())
	}
	return synced, nil
}

// changes is an event handler with one function for all events.
type changes[T cache.Object] func(before, after T, initialList bool)

func (f changes[T]) OnAdd(object T, initialList bool) {
	var none T
	f(none, object, initialList)
}

func (f changes[T]) OnUpdate(before, after T) { f(before, after, false) }

func (f changes[T]) OnDelete(object cache.DeletedObject[T]) {
	var none T
	if object.OptionalObj != none {
		f(object.OptionalObj, none, false)
	}
}

// Pods returns the cached ReplicaSets and pods that carry the Application's label.
func (i *Informers) Pods(application cache.ObjectName) ([]*child.ReplicaSet, []*child.Pod, error) {
	s, found := i.scope(application.Namespace)
	if !found {
		return nil, nil, nil
	}
	replicaSets, err := s.pods.replicaSets.GetTypedIndexer().ByTypedIndex(byApplication, application.String())
	if err != nil {
		return nil, nil, fmt.Errorf("find ReplicaSets of %s: %w", application, err)
	}
	pods, err := s.pods.pods.GetTypedIndexer().ByTypedIndex(byApplication, application.String())
	if err != nil {
		return nil, nil, fmt.Errorf("find pods of %s: %w", application, err)
	}
	return replicaSets, pods, nil
}
