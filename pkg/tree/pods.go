// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// replicaSetNodes returns the ReplicaSets of the Deployment, the newest first: the current one, and others that have
// pods.
func replicaSetNodes(objects Objects, deployment *appsv1.Deployment) []*Node {
	current := deployment.Annotations[child.RevisionAnnotation]
	owned := slices.DeleteFunc(slices.Clone(objects.ReplicaSets), func(r *appsv1.ReplicaSet) bool {
		gone := r.Annotations[child.RevisionAnnotation] != current && r.Status.Replicas == 0 && replicas(r.Spec.Replicas) == 0
		return gone || !metav1.IsControlledBy(r, deployment)
	})
	slices.SortFunc(owned, func(a, b *appsv1.ReplicaSet) int {
		return cmp.Or(cmp.Compare(revisionNumber(b), revisionNumber(a)), cmp.Compare(a.Name, b.Name))
	})
	nodes := make([]*Node, 0, len(owned))
	for _, r := range owned {
		nodes = append(nodes, replicaSetNode(objects, r, r.Annotations[child.RevisionAnnotation] == current))
	}
	return nodes
}

func revisionNumber(r *appsv1.ReplicaSet) int {
	number, err := strconv.Atoi(r.Annotations[child.RevisionAnnotation])
	if err != nil {
		return 0 // Only the Deployment controller sets it. Without one, the ReplicaSet goes last.
	}
	return number
}

func replicaSetNode(objects Objects, r *appsv1.ReplicaSet, current bool) *Node {
	desired := replicas(r.Spec.Replicas)
	node := &Node{Group: child.Deployment.Group, Kind: "ReplicaSet", Name: r.Name, Health: Healthy, Info: fmt.Sprintf("%d/%d ready", r.Status.ReadyReplicas, desired)}
	if !current {
		node.Info += ", former revision"
	}
	if r.Status.ReadyReplicas < desired {
		node.set(Progressing, "PodsNotReady", "")
	}
	for _, condition := range r.Status.Conditions {
		if condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Status == corev1.ConditionTrue {
			node.set(Degraded, condition.Reason, condition.Message)
		}
	}
	for _, pod := range podsOf(objects.Pods, r) {
		node.Children = append(node.Children, podNode(pod))
	}
	return node
}

func podsOf(pods []*corev1.Pod, r *appsv1.ReplicaSet) []*corev1.Pod {
	var owned []*corev1.Pod
	for _, pod := range pods {
		if metav1.IsControlledBy(pod, r) {
			owned = append(owned, pod)
		}
	}
	slices.SortFunc(owned, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return owned
}

func podNode(pod *corev1.Pod) *Node {
	node := &Node{Kind: "Pod", Name: pod.Name, Health: Healthy}
	ready, restarts := 0, int32(0)
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		restarts += status.RestartCount
		if status.Ready {
			ready++
		}
	}
	node.Info = fmt.Sprintf("%d/%d ready", ready, len(pod.Spec.Containers))
	switch {
	case restarts == 1:
		node.Info += ", 1 restart"
	case restarts > 1:
		node.Info += fmt.Sprintf(", %d restarts", restarts)
	}
	if pod.Spec.NodeName != "" {
		node.Info += ", on " + pod.Spec.NodeName
	}
	podHealth(node, pod)
	return node
}

func podHealth(node *Node, pod *corev1.Pod) {
	switch {
	case pod.DeletionTimestamp != nil:
		node.set(Progressing, "Terminating", "")
		return
	case pod.Status.Phase == corev1.PodFailed:
		node.set(Degraded, cmp.Or(pod.Status.Reason, "Failed"), pod.Status.Message)
		return
	case PodReady(pod):
		return
	}
	node.set(Progressing, cmp.Or(string(pod.Status.Phase), "Pending"), "")
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			node.set(Degraded, condition.Reason, condition.Message)
			return
		}
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if containerHealth(node, &status) {
			return
		}
	}
}

// containerHealth sets on the node why a container does not run, and reports whether there is a reason. It does not show
// the termination message that the container wrote, which may be a secret.
func containerHealth(node *Node, status *corev1.ContainerStatus) bool {
	waiting, ended := status.State.Waiting, status.State.Terminated
	switch {
	case waiting != nil && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing":
		message := fmt.Sprintf("Container %s: %s", status.Name, waiting.Message)
		if last := status.LastTerminationState.Terminated; last != nil {
			message = fmt.Sprintf("Container %s exited with code %d (%s).", status.Name, last.ExitCode, last.Reason)
		}
		node.set(Degraded, waiting.Reason, message)
	case ended != nil && ended.ExitCode != 0:
		node.set(Degraded, ended.Reason, fmt.Sprintf("Container %s exited with code %d (%s).", status.Name, ended.ExitCode, ended.Reason))
	case status.State.Running != nil && !status.Ready:
		node.set(Progressing, "NotReady", fmt.Sprintf("Container %s runs but is not ready.", status.Name))
	default:
		return false
	}
	return true
}

// PodReady reports whether the pod serves.
func PodReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// endpointNodes returns the EndpointSlices of the Service.
func endpointNodes(objects Objects, service *corev1.Service) []*Node {
	var nodes []*Node
	ports := UnservedPorts(objects, service)
	for _, slice := range objects.EndpointSlices {
		if slice.Labels[discoveryv1.LabelServiceName] != service.Name {
			continue
		}
		ready := readyEndpoints(slice)
		node := &Node{Group: discoveryv1.GroupName, Kind: "EndpointSlice", Name: slice.Name, Health: Healthy, Info: fmt.Sprintf("%d/%d endpoints ready", ready, len(slice.Endpoints))}
		switch {
		case ready == 0 && len(slice.Endpoints) > 0:
			node.set(Progressing, "NotReady", "")
		case len(slice.Endpoints) == 0 && unserved(objects, service):
			node.Info = "no endpoints"
			node.set(Progressing, reasonNoEndpoints, "No pod that the Service selects has an IP address yet.")
		case ready > 0 && len(ports) > 0: // No slice with ready endpoints has them.
			node.set(Degraded, reasonPortUnserved, unservedPorts(ports))
		}
		nodes = append(nodes, node)
	}
	slices.SortFunc(nodes, func(a, b *Node) int { return cmp.Compare(a.Name, b.Name) })
	return nodes
}

func readyEndpoints(slice *discoveryv1.EndpointSlice) int {
	ready := 0
	for i := range slice.Endpoints {
		if conditions := slice.Endpoints[i].Conditions; conditions.Ready == nil || *conditions.Ready {
			ready++
		}
	}
	return ready
}

// reasonNoEndpoints is the reason of a Service without a ready endpoint, and of an EndpointSlice of it without any.
const reasonNoEndpoints = "NoEndpoints"

// serviceHealth marks a Service whose clients get no response.
func serviceHealth(node *Node, objects Objects, service *corev1.Service) {
	if node.Health != Healthy || slices.Contains(objects.Hidden, "endpointslices") {
		return
	}
	if unserved(objects, service) {
		node.set(Degraded, reasonNoEndpoints, "No pod serves it: requests fail.")
	} else if ports := UnservedPorts(objects, service); len(ports) > 0 {
		node.set(Degraded, reasonPortUnserved, unservedPorts(ports))
	}
}

// unserved reports whether a Service has no ready endpoint. An Application with 0 pods has none on purpose, but not one without a
// Deployment whose spec asks for pods.
func unserved(objects Objects, service *corev1.Service) bool {
	for _, slice := range objects.EndpointSlices {
		if slice.Labels[discoveryv1.LabelServiceName] == service.Name && readyEndpoints(slice) > 0 {
			return false
		}
	}
	if !slices.ContainsFunc(objects.Children, isDeployment) {
		asked := objects.Application.Spec.Replicas
		return asked == nil || *asked > 0
	}
	return objects.Application.Status.DesiredReplicas > 0
}

func isDeployment(object child.Object) bool { _, is := object.(*appsv1.Deployment); return is }
