// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/text"
)

// maxMessage is the maximal length of a condition's message.
const maxMessage = 1024

// set sets the health of a node. Messages of other components may have control characters.
func (n *Node) set(health Health, reason, message string) {
	n.Health, n.Reason, n.Message = health, reason, text.Sanitize(message, maxMessage)
}

func applicationNode(application *v1.Application) *Node {
	node := &Node{Group: v1.SchemeGroupVersion.Group, Kind: v1.ApplicationKind, Name: application.Name, Health: Healthy, Info: imageOf(application)}
	conditions := application.Status.Conditions
	ready := meta.FindStatusCondition(conditions, v1.ConditionReady)
	switch {
	case application.DeletionTimestamp != nil && (ready == nil || ready.Reason != v1.ReasonDeleting):
		node.set(Progressing, v1.ReasonDeleting, "The Application is being deleted. It waits for "+strings.Join(application.Finalizers, ", ")+".")
	case application.Spec.ReconcilePolicy == v1.ReconcileSuspend:
		node.set(Suspended, string(v1.ReconcileSuspend), "spec.reconcilePolicy is Suspend: Fairlead does nothing.")
	case application.Status.ObservedGeneration != application.Generation || ready == nil:
		node.set(Progressing, v1.ReasonNotObserved, notObserved(application))
	case ready.Status == metav1.ConditionTrue:
		node.Health = Healthy
	case meta.IsStatusConditionTrue(conditions, v1.ConditionStalled):
		node.set(Degraded, ready.Reason, ready.Message)
	default:
		node.set(Progressing, ready.Reason, ready.Message)
	}
	return node
}

// imageOf is the image of the spec; or the one that runs, if an earlier revision runs instead.
func imageOf(application *v1.Application) string {
	var instead string
	switch rollback := application.Spec.Rollback; {
	case rollback != nil && rollback.ToRevision != nil:
		instead = fmt.Sprintf("(pinned to revision %d)", *rollback.ToRevision)
		if runs := application.Status.Revision; runs == nil || runs.Current != *rollback.ToRevision { // It does not exist, or is refused.
			instead = fmt.Sprintf("(revision %d is asked for)", *rollback.ToRevision)
		}
	case application.IsRolledBack():
		instead = "(after a rollback)"
	default:
		return application.Spec.Image
	}
	return strings.TrimSpace(application.Status.Image + " " + instead) // An adopted Deployment may have run an image that is not known.
}

// notObserved says why the status may be of an older generation.
func notObserved(application *v1.Application) string {
	const message = "The controller has not observed this generation yet."
	if !application.IsLarge() {
		return message
	}
	return message + " The Application is large, and large Applications of a namespace take turns, seconds apart."
}

// childNode combines the result of the last write, from status, with the state of the live object. A failed write comes
// first, because the live object then differs from the spec.
func childNode(application *v1.Application, ref child.Ref, live child.Object) *Node {
	node := &Node{Group: ref.Kind.Group, Kind: ref.Kind.Kind, Name: ref.Name, Health: Healthy}
	if live != nil {
		liveHealth(node, live)
	}
	switch status := resourceStatus(application, ref); status.State {
	case v1.ResourceDrifted:
		message := status.Message
		if live != nil && unseen(application, live) && !owned(application, ref, live) {
			message = "It exists, and is not the Application's." // Status takes it for missing.
		}
		node.set(Degraded, string(status.State), message)
	case v1.ResourceConflict, v1.ResourceFailed:
		node.set(Degraded, string(status.State), status.Message)
	case v1.ResourcePending:
		node.set(Progressing, string(status.State), status.Message)
	case v1.ResourceSynced:
		if live == nil {
			node.set(Missing, "NotFound", "Status lists it, but it does not exist.")
		}
	}
	if live != nil && live.GetDeletionTimestamp() != nil {
		node.set(Progressing, "Deleting", deletionMessage(live))
	}
	return node
}

// unseen reports whether the object lacks a label by which the controller selects.
func unseen(application *v1.Application, live child.Object) bool {
	labels := live.GetLabels()
	return labels[v1.LabelApplication] != application.Name || labels[v1.LabelManagedBy] != v1.ManagedBy
}

func deletionMessage(live child.Object) string {
	if finalizers := live.GetFinalizers(); len(finalizers) > 0 {
		return "It is being deleted and waits for its finalizers: " + strings.Join(finalizers, ", ") + "."
	}
	return "It is being deleted."
}

func resourceStatus(application *v1.Application, ref child.Ref) v1.ResourceStatus {
	for _, resource := range application.Status.Resources {
		if resource.Group == ref.Kind.Group && resource.Kind == ref.Kind.Kind && resource.Name == ref.Name {
			return resource
		}
	}
	return v1.ResourceStatus{}
}

// liveHealth derives the health of a live child from its status. Kinds without a status are healthy because they exist.
func liveHealth(node *Node, live child.Object) {
	switch live := live.(type) {
	case *appsv1.Deployment:
		deploymentHealth(node, live)
	case *appsv1.ControllerRevision:
		node.Info = fmt.Sprintf("revision %d", live.Revision)
	case *corev1.Service:
		node.Info = serviceInfo(live)
	case *autoscalingv2.HorizontalPodAutoscaler:
		autoscalerHealth(node, live)
	case *policyv1.PodDisruptionBudget:
		node.Info = counted(live.Status.DisruptionsAllowed, "disruption") + " allowed"
	case *networkingv1.Ingress:
		node.Info = strings.Join(ingressHosts(live), ", ")
		if len(live.Status.LoadBalancer.Ingress) == 0 { // Some controllers give none, so it may be healthy.
			node.Info += "; no address"
		}
	case *gatewayv1.HTTPRoute:
		routeHealth(node, live)
	}
}

func deploymentHealth(node *Node, live *appsv1.Deployment) {
	desired := replicas(live.Spec.Replicas)
	status := live.Status
	node.Info = fmt.Sprintf("%d/%d available", status.AvailableReplicas, desired)
	complete := status.UpdatedReplicas == desired && status.AvailableReplicas == desired && status.Replicas == desired
	switch progressing := deploymentCondition(live, appsv1.DeploymentProgressing); {
	case child.LacksReplicaSet(live):
		node.set(Degraded, progressing.Reason, progressing.Message)
	case status.ObservedGeneration < live.Generation:
		node.set(Progressing, "RollingOut", "Kubernetes has not observed the last change yet.")
	case live.Spec.Paused && !complete:
		node.set(Suspended, v1.ReasonPaused, "The rollout is paused.")
	case complete:
		node.Health = Healthy
	case progressing != nil && progressing.Reason == v1.ReasonProgressDeadlineExceeded:
		node.set(Degraded, progressing.Reason, progressing.Message)
	case progressing != nil && progressing.Reason == child.ReasonRolledOut && status.UpdatedReplicas == desired && status.Replicas == desired:
		node.set(Progressing, v1.ReasonPodsUnavailable, fmt.Sprintf("%d of %d pods are available.", status.AvailableReplicas, desired))
	default:
		node.set(Progressing, "RollingOut", fmt.Sprintf("%d of %d pods are of the current revision, %d are available.", status.UpdatedReplicas, desired, status.AvailableReplicas))
	}
}

func deploymentCondition(live *appsv1.Deployment, kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range live.Status.Conditions {
		if live.Status.Conditions[i].Type == kind {
			return &live.Status.Conditions[i]
		}
	}
	return nil
}

func counted(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func autoscalerHealth(node *Node, live *autoscalingv2.HorizontalPodAutoscaler) {
	node.Info = fmt.Sprintf("%s, %d to %d", counted(live.Status.CurrentReplicas, "pod"), replicas(live.Spec.MinReplicas), live.Spec.MaxReplicas)
	for _, condition := range live.Status.Conditions {
		if condition.Status == corev1.ConditionFalse && (condition.Type == autoscalingv2.AbleToScale || condition.Type == autoscalingv2.ScalingActive) {
			node.set(Degraded, condition.Reason, condition.Message)
			return
		}
	}
}

func routeHealth(node *Node, live *gatewayv1.HTTPRoute) {
	hosts := make([]string, 0, len(live.Spec.Hostnames))
	for _, host := range live.Spec.Hostnames {
		hosts = append(hosts, string(host))
	}
	node.Info = strings.Join(hosts, ", ")
	if len(live.Status.Parents) == 0 {
		node.set(Progressing, v1.ReasonRoutesPending, "No Gateway has reported on it yet.")
	}
	for _, parent := range live.Status.Parents {
		for _, condition := range parent.Conditions {
			if condition.Status == metav1.ConditionFalse && (condition.Type == string(gatewayv1.RouteConditionAccepted) || condition.Type == string(gatewayv1.RouteConditionResolvedRefs)) {
				node.set(Degraded, condition.Reason, fmt.Sprintf("Gateway %s: %s", parent.ParentRef.Name, condition.Message))
				return
			}
		}
	}
}

func ingressHosts(live *networkingv1.Ingress) []string {
	hosts := make([]string, 0, len(live.Spec.Rules))
	for _, rule := range live.Spec.Rules {
		hosts = append(hosts, rule.Host)
	}
	return hosts
}

func serviceInfo(live *corev1.Service) string {
	ports := make([]string, 0, len(live.Spec.Ports))
	for _, port := range live.Spec.Ports {
		ports = append(ports, strings.TrimPrefix(fmt.Sprintf("%s:%d", port.Name, port.Port), ":"))
	}
	return strings.Join(ports, ", ")
}

// replicas returns the number of pods; an omitted number means 1.
func replicas(number *int32) int32 {
	if number == nil {
		return 1
	}
	return *number
}
