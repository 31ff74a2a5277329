// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// RolloutInProgress is in the message about a Deployment that can be adopted as soon as its rollout is complete.
const RolloutInProgress = "a rollout is in progress; the adoption waits until it is complete"

// rolloutRecheck is the delay before the plan checks again whether the rollout is complete. The informers have the Deployment
// only if the consent came with Fairlead's labels.
const rolloutRecheck = 10 * time.Second

// refuseDeployment returns what excludes the adoption of a live Deployment.
//
// Whatever finds the old pods must find the new ones: Services, NetworkPolicies and monitors of which Fairlead does not
// know. So these have the labels of the old pods, and their named ports. And no pod may start or stop because of the
// adoption, so the rollout is paused and the number of pods stays.
func refuseDeployment(in Input, rendered, live *appsv1.Deployment) []refusal {
	if path, why := RefuseSelector(live); path != "" {
		return []refusal{{path, why}} // No Application can correct that.
	}
	selector := live.Spec.Selector
	if selector == nil || len(selector.MatchLabels) == 0 {
		return []refusal{{"spec.selector.matchLabels", "there are none"}}
	}
	// The selector stays, so it must select the new pods too.
	refusals := refuseLabels("spec.selector.matchLabels", rendered.Spec.Template.Labels, selector.MatchLabels)
	refusals = append(refusals, refuseTemplate(&rendered.Spec.Template, &live.Spec.Template, selector.MatchLabels)...)
	if !rendered.Spec.Paused {
		refusals = append(refusals, refusal{"spec.paused", "the adoption would replace the pods at once; set it to true in the Application, and to false once they may be replaced"})
	}
	if want, have := rendered.Spec.Replicas, replicasOf(live); want != nil && *want != have {
		refusals = append(refusals, refusal{"spec.replicas", fmt.Sprintf("the adoption would change the number of pods from %d to %d; set it to %d in the Application, or remove it there", have, *want, have)})
	}
	if in.Missing != "" {
		refusals = append(refusals, refusal{"spec", in.Missing})
	}
	return append(refusals, refuseChildren(in, live)...)
}

// refuseChildren returns the other children that exclude the adoption of a live Deployment.
func refuseChildren(in Input, live *appsv1.Deployment) (refusals []refusal) {
	for _, desired := range in.Desired {
		switch desired.Kind {
		case child.ConfigMap:
			// The informers have no ReplicaSet without Fairlead's label, so nothing would keep an edit of the Application from
			// changing what the old pods read, perhaps as an account that its author may not use.
			if child.ReferencesOf(&live.Spec.Template.Spec).Has(desired.Ref) {
				refusals = append(refusals, refusal{"spec.config", fmt.Sprintf("the pods read a ConfigMap %s already, which is the name of the Application's own", desired.Name)})
			}
		// The informers have no object without Fairlead's labels, so a second autoscaler or budget would go unnoticed.
		case child.HorizontalPodAutoscaler:
			refusals = append(refusals, refusal{"spec.autoscaling", "the Deployment may have an autoscaler already; remove the field, and once the condition Adopted is True, delete any other autoscaler and set the field again"})
		case child.PodDisruptionBudget:
			refusals = append(refusals, refusal{"spec.disruptionBudget", "the pods may have a budget already; set mode Disabled, and once the condition Adopted is True, delete any other budget and set another mode"})
		}
	}
	return refusals
}

// isRollingOut reports whether pods of two templates may run. In a paused Deployment, some of them start and stop to fit its
// strategy, which the adoption changes. Even the annotation of a consent begins a new generation, which the Deployment
// controller observes a moment later.
func isRollingOut(live child.Object) bool {
	deployment, ok := live.(*appsv1.Deployment)
	return ok && (deployment.Status.ObservedGeneration < deployment.Generation || deployment.Status.UpdatedReplicas != deployment.Status.Replicas)
}

// refuseTemplate returns what excludes the adoption of the pods: what refers to the old ones by a label, or to a port of theirs by its
// name, must find the new ones. The labels of the selector are not repeated.
func refuseTemplate(rendered, live *corev1.PodTemplateSpec, selector map[string]string) []refusal {
	others := maps.Clone(live.Labels)
	maps.DeleteFunc(others, func(key, _ string) bool { _, selects := selector[key]; return selects })
	refusals := refuseLabels("spec.template.metadata.labels", rendered.Labels, others)
	for i := range live.Spec.Containers {
		container := &live.Spec.Containers[i]
		for _, port := range container.Ports {
			if port.Name != "" && portNumber(&rendered.Spec, port.Name, port.Protocol) != port.ContainerPort {
				refusals = append(refusals, refusal{
					fmt.Sprintf("spec.template.spec.containers[%s].ports[%s]", container.Name, port.Name),
					fmt.Sprintf("the new pods need the port too; add one of this name to spec.ports, with containerPort %d", port.ContainerPort),
				})
			}
		}
	}
	return refusals
}

func refuseLabels(path string, rendered, live map[string]string) (refusals []refusal) {
	for _, key := range sortedKeys(live) {
		if value, has := rendered[key]; !has || value != live[key] {
			refusals = append(refusals, refusal{path + "[" + key + "]", fmt.Sprintf("the new pods need the label too; add %s: %q to spec.podMetadata.labels", key, live[key])})
		}
	}
	return refusals
}

// portNumber returns the number of the container port of this name; 0 if there is none.
func portNumber(pod *corev1.PodSpec, name string, protocol corev1.Protocol) int32 {
	for i := range pod.Containers {
		for _, port := range pod.Containers[i].Ports {
			if port.Name == name && protocolOf(port.Protocol) == protocolOf(protocol) {
				return port.ContainerPort
			}
		}
	}
	return 0
}

func protocolOf(protocol corev1.Protocol) corev1.Protocol {
	return cmp.Or(protocol, corev1.ProtocolTCP)
}

// replicasOf returns the number of pods that a Deployment asks for.
func replicasOf(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}

func sortedKeys(of map[string]string) []string { return slices.Sorted(maps.Keys(of)) }
