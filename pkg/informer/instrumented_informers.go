// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
