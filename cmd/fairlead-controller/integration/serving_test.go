// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
)

// servingWatch follows every version that the API server has of the pods and EndpointSlices of the Service web, and keeps the lowest
// numbers. Polling would miss a moment.
type servingWatch struct {
	mu              sync.Mutex
	pods, endpoints lowest
}

// lowest is the lowest sum of a number that objects have.
type lowest struct {
	of     map[types.UID]int
	lowest int
}

func (l *lowest) set(uid types.UID, n int) {
	l.of[uid] = n
	sum := 0
	for _, n := range l.of {
		sum += n
	}
	l.lowest = min(l.lowest, sum)
}

// followServing begins when all pods of the selector are ready, and ends with the test.
func (e *env) followServing(selector string) *servingWatch {
	e.Helper()
	const all = 1 << 30
	s := &servingWatch{pods: lowest{map[types.UID]int{}, all}, endpoints: lowest{map[types.UID]int{}, all}}
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.Context()))
	var followers sync.WaitGroup
	e.Cleanup(func() { cancel(); followers.Wait() })
	pods, err := e.kube.CoreV1().Pods(e.namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		e.Fatal(err)
	}
	slices, err := e.kube.DiscoveryV1().EndpointSlices(e.namespace).List(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=web"})
	if err != nil {
		e.Fatal(err)
	}
	for i := range pods.Items {
		s.pods.of[pods.Items[i].UID] = readyPods(&pods.Items[i])
	}
	for i := range slices.Items {
		s.endpoints.of[slices.Items[i].UID] = readyEndpoints(&slices.Items[i])
	}
	changedPods, err := e.kube.CoreV1().Pods(e.namespace).Watch(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: pods.ResourceVersion})
	if err != nil {
		e.Fatal(err)
	}
	changedSlices, err := e.kube.DiscoveryV1().EndpointSlices(e.namespace).Watch(ctx, metav1.ListOptions{LabelSelector: discoveryv1.LabelServiceName + "=web", ResourceVersion: slices.ResourceVersion})
	if err != nil {
		e.Fatal(err)
	}
	follow := func(changes watch.Interface, take func(watch.Event)) {
		for event := range changes.ResultChan() {
			s.mu.Lock()
			take(event)
			s.mu.Unlock()
		}
		if ctx.Err() == nil {
			e.Errorf("a watch of what serves ended before the test")
		}
	}
	followers.Go(func() {
		follow(changedPods, func(event watch.Event) {
			if pod, is := event.Object.(*corev1.Pod); is {
				ready := readyPods(pod)
				if event.Type == watch.Deleted {
					ready = 0
				}
				s.pods.set(pod.UID, ready)
			}
		})
	})
	followers.Go(func() {
		follow(changedSlices, func(event watch.Event) {
			if slice, is := event.Object.(*discoveryv1.EndpointSlice); is {
				ready := readyEndpoints(slice)
				if event.Type == watch.Deleted {
					ready = 0
				}
				s.endpoints.set(slice.UID, ready)
			}
		})
	})
	return s
}

func readyPods(pod *corev1.Pod) int {
	if pod.DeletionTimestamp != nil {
		return 0
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
			return 1
		}
	}
	return 0
}

func readyEndpoints(slice *discoveryv1.EndpointSlice) int {
	ready := 0
	for _, endpoint := range slice.Endpoints {
		if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
			ready += len(endpoint.Addresses)
		}
	}
	return ready
}

// wantServing wants that there was no moment with fewer ready pods than the Deployment wants, less its maxUnavailable; nor one
// without endpoints.
func (e *env) wantServing(s *servingWatch, deployment *appsv1.Deployment) {
	e.Helper()
	desired := int(*deployment.Spec.Replicas)
	unavailable, err := intstr.GetScaledValueFromIntOrPercent(deployment.Spec.Strategy.RollingUpdate.MaxUnavailable, desired, false)
	if err != nil {
		e.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods.lowest < desired-unavailable {
		e.Errorf("%d pods were ready for a moment, want %d - %d or more", s.pods.lowest, desired, unavailable)
	}
	if s.endpoints.lowest < 1 {
		e.Error("the Service had no endpoints for a moment")
	}
	e.Logf("at the lowest, %d pods were ready, of %d with maxUnavailable %d, and %d endpoints", s.pods.lowest, desired, unavailable, s.endpoints.lowest)
}
