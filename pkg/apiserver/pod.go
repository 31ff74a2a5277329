// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// podState is the one state in which a pod is counted.
type podState int

const (
	podPending podState = iota
	podNotReady
	podReady
	podEnded
	podTerminating
)

// pod is what the cache keeps of a pod. The controller's cache keeps less: it has no use for a pod that serves.
type pod struct {
	// Pod has the identity, the owner and the problems.
	*child.Pod
	State      podState
	Restarts   int32
	CPU        resource.Quantity // requested
	Memory     resource.Quantity // requested
	Containers []string
	// NotReadySince is since when the pod has not been ready; meaningless for one that is.
	NotReadySince metav1.Time
}

func newPod(object *corev1.Pod) *pod {
	p := &pod{Pod: child.NewPod(object), State: stateOf(object), NotReadySince: object.CreationTimestamp}
	for _, containers := range [][]corev1.Container{object.Spec.InitContainers, object.Spec.Containers} {
		for i := range containers {
			p.Containers = append(p.Containers, containers[i].Name)
		}
	}
	for i := range object.Spec.Containers {
		p.request(&object.Spec.Containers[i])
	}
	for i := range object.Spec.InitContainers {
		// Only a sidecar runs as long as the pod.
		if sidecar := &object.Spec.InitContainers[i]; sidecar.RestartPolicy != nil {
			p.request(sidecar)
		}
	}
	for _, statuses := range [][]corev1.ContainerStatus{object.Status.InitContainerStatuses, object.Status.ContainerStatuses} {
		for i := range statuses {
			p.Restarts += statuses[i].RestartCount
		}
	}
	if ready := readyCondition(object); ready != nil && !ready.LastTransitionTime.IsZero() {
		p.NotReadySince = ready.LastTransitionTime
	}
	return p
}

func (p *pod) request(container *corev1.Container) {
	p.CPU.Add(*container.Resources.Requests.Cpu())
	p.Memory.Add(*container.Resources.Requests.Memory())
}

func stateOf(object *corev1.Pod) podState {
	ready := readyCondition(object)
	switch {
	case object.DeletionTimestamp != nil:
		return podTerminating
	case object.Status.Phase == corev1.PodFailed, object.Status.Phase == corev1.PodSucceeded:
		return podEnded
	case object.Status.Phase != corev1.PodRunning:
		return podPending
	case ready != nil && ready.Status == corev1.ConditionTrue:
		return podReady
	default:
		return podNotReady
	}
}

func readyCondition(object *corev1.Pod) *corev1.PodCondition {
	for i := range object.Status.Conditions {
		if object.Status.Conditions[i].Type == corev1.PodReady {
			return &object.Status.Conditions[i]
		}
	}
	return nil
}

// trimApplication keeps of an Application what views and trees show.
func trimApplication(application *v1.Application) *v1.Application {
	return &v1.Application{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: application.Namespace, Name: application.Name, UID: application.UID, Labels: application.Labels,
			Generation: application.Generation, ResourceVersion: application.ResourceVersion,
			CreationTimestamp: application.CreationTimestamp, DeletionTimestamp: application.DeletionTimestamp,
		},
		Status: application.Status,
	}
}
