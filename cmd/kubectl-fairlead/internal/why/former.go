// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

// formerPods are the ready pods of the ReplicaSets that the Deployment replaces, as far as the user may read them.
type formerPods struct {
	// serving have a port to which the Service leads; lacking have none.
	serving, lacking int
	// ports are the names to which the Service leads.
	ports []string
}

// former counts the former pods. Without a Service, all of them serve.
func (f facts) former() formerPods {
	former := formerPods{ports: f.targetPorts()}
	for _, pod := range f.Pods {
		switch {
		case !f.ofFormer(pod) || pod.DeletionTimestamp != nil || !tree.PodReady(pod):
		case len(former.ports) > 0 && !hasPort(pod, former.ports):
			former.lacking++
		default:
			former.serving++
		}
	}
	return former
}

// ofFormer reports whether the pod is of a ReplicaSet that the Deployment replaces.
func (f facts) ofFormer(pod *corev1.Pod) bool {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	return deployment != nil && slices.ContainsFunc(f.ReplicaSets, func(replicaSet *appsv1.ReplicaSet) bool {
		return metav1.IsControlledBy(pod, replicaSet) && metav1.IsControlledBy(replicaSet, deployment) &&
			(child.LacksReplicaSet(deployment) || replicaSet.Annotations[child.RevisionAnnotation] != deployment.Annotations[child.RevisionAnnotation])
	})
}

// targetPorts are the names of the ports of pods to which the Service leads; none if it leads to one by its number, which each pod
// may have.
func (f facts) targetPorts() []string {
	service := child.Get[*corev1.Service](f.Snapshot(), child.Service, f.app.Name)
	if service == nil || !child.OwnedBy(service, f.app) {
		return nil
	}
	var names []string
	for _, port := range service.Spec.Ports {
		if port.TargetPort.Type != intstr.String {
			return nil
		}
		names = append(names, port.TargetPort.StrVal)
	}
	return names
}

// hasPort reports whether a container of the pod has a port of one of the names. That of a sidecar counts too.
func hasPort(pod *corev1.Pod, names []string) bool {
	return slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(container corev1.Container) bool {
		return slices.ContainsFunc(container.Ports, func(port corev1.ContainerPort) bool { return slices.Contains(names, port.Name) })
	})
}

// text says what the former pods do meanwhile, as the end of a text; "" if there are none.
func (p formerPods) text(revision *v1.RevisionStatus) string {
	which := olderOf(revision)
	switch {
	case p.serving == 1:
		return " 1 pod of " + which + " revision still serves."
	case p.serving > 1:
		return fmt.Sprintf(" %d pods of %s revision still serve.", p.serving, which)
	case p.lacking == 0:
		return ""
	}
	pods, they, ports := "1 pod of "+which+" revision runs", "it lacks", "port "+p.ports[0]
	if p.lacking > 1 {
		pods, they = fmt.Sprintf("%d pods of %s revision run", p.lacking, which), "they lack"
	}
	if len(p.ports) > 1 {
		ports = "ports " + strings.Join(p.ports, ", ")
	}
	return fmt.Sprintf(" %s, but the Service leads to %s, which %s.", pods, ports, they)
}

// olderOf is an article for the revision that the Deployment replaces, with its adjective.
func olderOf(revision *v1.RevisionStatus) string {
	if revision != nil && revision.RolledBackFrom != 0 {
		return "another" // It is the newer one, which failed.
	}
	return "an older"
}
