// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"cmp"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
	externalversions "fairlead.dev/fairlead/pkg/generated/informers/externalversions"
	"fairlead.dev/fairlead/pkg/reference"
)

var (
	classesGVR     = v1.SchemeGroupVersion.WithResource(v1.ApplicationClassResource)
	podsGVR        = corev1.SchemeGroupVersion.WithResource("pods")
	replicaSetsGVR = appsv1.SchemeGroupVersion.WithResource("replicasets")
)

// recordApplications makes the informer of Applications, if it is to be recorded.
func recordApplications(r *recording, factory externalversions.SharedInformerFactory) {
	if r == nil {
		return
	}
	factory.InformerFor(&v1.Application{}, func(client versioned.Interface, resync time.Duration) cache.SharedIndexInformer {
		return r.informer(applicationsGVR, roleApplications, debug.ResourceOptions{Key: cacheName},
			listerWatcher(client, client.AppsV1().Applications(r.namespace), ""), &v1.Application{}, generated(resync))
	})
}

// recordClasses makes the informer of classes, if it is to be recorded.
func recordClasses(r *recording, factory externalversions.SharedInformerFactory) {
	if r == nil {
		return
	}
	factory.InformerFor(&v1.ApplicationClass{}, func(client versioned.Interface, resync time.Duration) cache.SharedIndexInformer {
		return r.informer(classesGVR, roleClasses, debug.ResourceOptions{Key: nobodys},
			listerWatcher(client, client.AppsV1().ApplicationClasses(), ""), &v1.ApplicationClass{}, generated(resync))
	})
}

// recordChildren makes the informers of children, if they are to be recorded.
func recordChildren(r *recording, factory informers.SharedInformerFactory, selector string) {
	if r == nil {
		return
	}
	for _, kind := range child.Kinds() {
		list, example := childLister(kind)
		if list == nil {
			continue // The generated code makes it.
		}
		factory.InformerFor(example, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return r.informer(kind.GroupVersionResource(), roleChildren, recordedChild(kind, example), list(client, r.namespace, selector), example, generated(resync))
		})
	}
}

// recordOptional makes the recordings of an optional kind, by namespace. They are there before the API is,
// and after it.
func recordOptional(recorder *debug.Recorder, kind child.Kind, namespaces []string, example runtime.Object) map[string]*recording {
	if recorder == nil {
		return nil
	}
	recordings := make(map[string]*recording, len(namespaces))
	for _, namespace := range namespaces {
		r := newRecording(recorder, namespace)
		r.describe(kind.GroupVersionResource(), roleChildren, recordedChild(kind, example))
		recordings[namespace] = r
	}
	return recordings
}

// recordedChild are the options of all recorders of children.
func recordedChild(kind child.Kind, example runtime.Object) debug.ResourceOptions {
	return debug.ResourceOptions{Key: firstApplication, CachedKey: packedApplication, Unpack: unpacker(kind, example)}
}

// childLister returns how the objects of a kind are listed and watched, and an empty one of them. Optional
// kinds have clients of their own, and nil here.
func childLister(kind child.Kind) (list func(client kubernetes.Interface, namespace, selector string) cache.ListerWatcher, example runtime.Object) {
	switch kind {
	case child.ServiceAccount:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.CoreV1().ServiceAccounts(namespace), selector)
		}, &corev1.ServiceAccount{}
	case child.ConfigMap:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.CoreV1().ConfigMaps(namespace), selector)
		}, &corev1.ConfigMap{}
	case child.NetworkPolicy:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.NetworkingV1().NetworkPolicies(namespace), selector)
		}, &networkingv1.NetworkPolicy{}
	case child.Deployment:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.AppsV1().Deployments(namespace), selector)
		}, &appsv1.Deployment{}
	case child.ControllerRevision:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.AppsV1().ControllerRevisions(namespace), selector)
		}, &appsv1.ControllerRevision{}
	case child.Service:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.CoreV1().Services(namespace), selector)
		}, &corev1.Service{}
	case child.HorizontalPodAutoscaler:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.AutoscalingV2().HorizontalPodAutoscalers(namespace), selector)
		}, &autoscalingv2.HorizontalPodAutoscaler{}
	case child.PodDisruptionBudget:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.PolicyV1().PodDisruptionBudgets(namespace), selector)
		}, &policyv1.PodDisruptionBudget{}
	case child.Ingress:
		return func(c kubernetes.Interface, namespace, selector string) cache.ListerWatcher {
			return listerWatcher(c, c.NetworkingV1().Ingresses(namespace), selector)
		}, &networkingv1.Ingress{}
	default:
		return nil, nil
	}
}

// recordPods makes the informers of pods and ReplicaSets, if they are to be recorded.
func recordPods(r *recording, factory informers.SharedInformerFactory) {
	if r == nil {
		return
	}
	options := debug.ResourceOptions{Key: labelledApplication, CachedKey: podApplication}
	factory.InformerFor(&corev1.Pod{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return r.informer(podsGVR, rolePods, options,
			listerWatcher(client, client.CoreV1().Pods(r.namespace), v1.LabelApplication), &corev1.Pod{}, generated(resync))
	})
	factory.InformerFor(&appsv1.ReplicaSet{}, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
		return r.informer(replicaSetsGVR, rolePods, options,
			listerWatcher(client, client.AppsV1().ReplicaSets(r.namespace), v1.LabelApplication), &appsv1.ReplicaSet{}, generated(resync))
	})
}

// recordReferences makes the informer of a kind of reference. Most of what it sees is nobody's here.
func recordReferences(r *recording, client metadata.Interface, kind reference.Kind) cache.SharedIndexInformer {
	resource := corev1.SchemeGroupVersion.WithResource(referenceResource(kind))
	options := debug.ResourceOptions{
		Key: nobodys, CachedKey: func(any) cache.ObjectName { return cache.ObjectName{} }, Foreign: true, Hidden: kind == reference.Secret,
	}
	return r.informer(resource, roleReferences, options,
		listerWatcher(client, client.Resource(resource).Namespace(r.namespace), ""), &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{})
}

// The Applications that objects belong to, as far as their labels tell.

func cacheName(object metav1.Object) cache.ObjectName { return cache.MetaObjectToName(object) }

func nobodys(metav1.Object) cache.ObjectName { return cache.ObjectName{} }

func firstApplication(object metav1.Object) cache.ObjectName {
	label := object.GetLabels()[v1.LabelApplication]
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && controller.Kind == v1.ApplicationKind {
		label = controller.Name
	}
	return inNamespaceOf(object, label)
}

func packedApplication(object any) cache.ObjectName {
	packed, ok := object.(*child.Packed)
	if !ok {
		return cache.ObjectName{}
	}
	return inNamespaceOf(packed, cmp.Or(packed.Owner, packed.Label))
}

// unpacker makes of a cached child the object that it is.
func unpacker(kind child.Kind, example runtime.Object) func(any) (any, error) {
	return func(cached any) (any, error) {
		packed, isPacked := cached.(*child.Packed)
		object, isObject := example.DeepCopyObject().(child.Object)
		if !isPacked || !isObject {
			return nil, fmt.Errorf("the cache of %s has a %T", kind, cached)
		}
		if err := packed.UnpackInto(object, kind); err != nil {
			return nil, err
		}
		if o, ok := object.(*unstructured.Unstructured); ok {
			return o.Object, nil // It has no fields of its own to be told apart by.
		}
		return object, nil
	}
}

func labelledApplication(object metav1.Object) cache.ObjectName {
	return inNamespaceOf(object, object.GetLabels()[v1.LabelApplication])
}

func podApplication(object any) cache.ObjectName {
	switch o := object.(type) {
	case *child.Pod:
		return inNamespaceOf(o, o.Application)
	case *child.ReplicaSet:
		return inNamespaceOf(o, o.Application)
	default:
		return cache.ObjectName{}
	}
}

func inNamespaceOf(object metav1.Object, application string) cache.ObjectName {
	if application == "" {
		return cache.ObjectName{}
	}
	return cache.ObjectName{Namespace: object.GetNamespace(), Name: application}
}
