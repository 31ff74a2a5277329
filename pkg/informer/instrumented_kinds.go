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

// recordApplications creates the informer of Applications, if it is recorded.
func recordApplications(r *instrumentation, factory externalversions.SharedInformerFactory) {
	if r == nil {
		return
	}
	factory.InformerFor(&v1.Application{}, func(client versioned.Interface, resync time.Duration) cache.SharedIndexInformer {
		return r.informer(applicationsGVR, roleApplications, debug.ResourceOptions{Key: ownName},
			listerWatcher(client, client.AppsV1().Applications(r.namespace), ""), &v1.Application{}, generated(resync))
	})
}

// recordClasses creates the informer of classes, if it is recorded.
func recordClasses(r *instrumentation, factory externalversions.SharedInformerFactory) {
	if r == nil {
		return
	}
	factory.InformerFor(&v1.ApplicationClass{}, func(client versioned.Interface, resync time.Duration) cache.SharedIndexInformer {
		return r.informer(classesGVR, roleClasses, debug.ResourceOptions{Key: noApplication},
			listerWatcher(client, client.AppsV1().ApplicationClasses(), ""), &v1.ApplicationClass{}, generated(resync))
	})
}

// recordChildren creates the informers of children, if they are recorded.
func recordChildren(r *instrumentation, factory informers.SharedInformerFactory, selector string) {
	if r == nil {
		return
	}
	for _, kind := range child.Kinds() {
		list, example := childLister(kind)
		if list == nil {
			continue // The generated code creates it.
		}
		factory.InformerFor(example, func(client kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
			return r.informer(kind.GroupVersionResource(), roleChildren, recordedChild(kind, example), list(client, r.namespace, selector), example, generated(resync))
		})
	}
}

// recordOptional creates the instrumentations of an optional kind, by namespace. They outlast every life of the API.
func recordOptional(recorder *debug.Recorder, kind child.Kind, namespaces []string, example runtime.Object) map[string]*instrumentation {
	if recorder == nil {
		return nil
	}
	instrumentations := make(map[string]*instrumentation, len(namespaces))
	for _, namespace := range namespaces {
		r := newInstrumentation(recorder, namespace)
		r.describe(kind.GroupVersionResource(), roleChildren, recordedChild(kind, example))
		instrumentations[namespace] = r
	}
	return instrumentations
}

// recordedChild returns the options that all recorders of children share.
func recordedChild(kind child.Kind, example runtime.Object) debug.ResourceOptions {
	return debug.ResourceOptions{Key: firstApplication, CachedKey: encodedApplication, Unpack: decoder(kind, example)}
}

// childLister returns the ListerWatcher of a kind, and an empty object of it. list is nil for optional kinds, which
// have clients of their own.
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

// recordPods creates the informers of pods and ReplicaSets, if they are recorded.
func recordPods(r *instrumentation, factory informers.SharedInformerFactory) {
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

// recordReferences creates the informer of a kind of reference. Most of its objects belong to no Application.
func recordReferences(r *instrumentation, client metadata.Interface, kind reference.Kind) cache.SharedIndexInformer {
	resource := corev1.SchemeGroupVersion.WithResource(referenceResource(kind))
	options := debug.ResourceOptions{
		Key: noApplication, CachedKey: func(any) cache.ObjectName { return cache.ObjectName{} }, Foreign: true, Hidden: kind == reference.Secret,
	}
	return r.informer(resource, roleReferences, options,
		listerWatcher(client, client.Resource(resource).Namespace(r.namespace), ""), &metav1.PartialObjectMetadata{}, cache.SharedIndexInformerOptions{})
}

// The functions below return the Application of an object according to its metadata.

func ownName(object metav1.Object) cache.ObjectName { return cache.MetaObjectToName(object) }

func noApplication(metav1.Object) cache.ObjectName { return cache.ObjectName{} }

func firstApplication(object metav1.Object) cache.ObjectName {
	label := object.GetLabels()[v1.LabelApplication]
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil && controller.Kind == v1.ApplicationKind {
		label = controller.Name
	}
	return inNamespaceOf(object, label)
}

func encodedApplication(object any) cache.ObjectName {
	encoded, ok := object.(*Encoded)
	if !ok {
		return cache.ObjectName{}
	}
	return inNamespaceOf(encoded, cmp.Or(encoded.Owner, encoded.Label))
}

// decoder returns a function that decodes a cached child.
func decoder(kind child.Kind, example runtime.Object) func(any) (any, error) {
	return func(cached any) (any, error) {
		encoded, isEncoded := cached.(*Encoded)
		object, isObject := example.DeepCopyObject().(child.Object)
		if !isEncoded || !isObject {
			return nil, fmt.Errorf("the cache of %s has a %T", kind, cached)
		}
		if err := encoded.decodeInto(object, kind); err != nil {
			return nil, err
		}
		if o, ok := object.(*unstructured.Unstructured); ok {
			return o.Object, nil // A comparison of its Go fields would not show what changed.
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
