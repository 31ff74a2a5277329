// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/managers"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// ReplicasContended reports whether another writer keeps changing how many pods the Deployment has.
func ReplicasContended(application *v1.Application) bool {
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Reason != v1.ReasonContended || application.Spec.Replicas == nil {
		return false
	}
	return slices.ContainsFunc(application.Status.Resources, isScaled)
}

// isScaled reports whether the child is a Deployment whose number of pods another writer changes. The message names the field.
func isScaled(resource v1.ResourceStatus) bool {
	return resource.Kind == child.Deployment.Kind && resource.State == v1.ResourceFailed && strings.Contains(resource.Message, ".spec.replicas")
}

// nameScalers names the autoscalers behind the other writer. They write the subresource scale, and managedFields may say no more than
// that the controller of all autoscalers did.
func (f facts) nameScalers(finding *Finding, resource v1.ResourceStatus) {
	if !isScaled(resource) {
		return
	}
	evidence, next := f.scalers(resource.Name, "remove spec.replicas, or delete the HorizontalPodAutoscaler.")
	if len(evidence) > 0 && slices.Equal(contendedFields(resource.Message), []string{".spec.replicas"}) {
		finding.Evidence = slices.DeleteFunc(finding.Evidence, func(e Evidence) bool { return e.Message == writerUnseen }) // It is an autoscaler.
	}
	finding.Evidence, finding.Next = append(finding.Evidence, evidence...), append(next, finding.Next...)
}

// scalers names the autoscalers of the Deployment that are not the Application's, and what to do about each.
func (f facts) scalers(deployment, do string) (evidence []Evidence, next []string) {
	for _, name := range f.Scalers {
		evidence = append(evidence, Evidence{
			Object: child.HorizontalPodAutoscaler.Kind + "/" + name, Field: "spec.scaleTargetRef", Message: child.Deployment.Kind + " " + deployment,
		})
		next = append(next, fmt.Sprintf("%s %s scales this Deployment: %s", child.HorizontalPodAutoscaler.Kind, name, do))
	}
	return evidence, next
}

// disabledAutoscaler explains an autoscaled Application without pods: at 0, an autoscaler waits for another client to scale up, and
// Fairlead leaves the number to it.
func disabledAutoscaler(f facts) []Finding {
	if !f.autoscalerDisabled() {
		return nil
	}
	var evidence []Evidence
	for _, kind := range []string{v1.ConditionStalled, v1.ConditionAutoscalingActive} {
		if condition := f.condition(kind); condition != nil && (condition.Reason == v1.ReasonPodsUnavailable || condition.Reason == reasonScalingDisabled) {
			evidence = append(evidence, f.conditionEvidence(condition))
		}
	}
	if deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name); deployment != nil {
		evidence = append(evidence, scaledBy(deployment)...)
	}
	minimum := int32(1)
	if least := f.app.Spec.Autoscaling.MinReplicas; least != nil {
		minimum = max(minimum, *least)
	}
	return []Finding{{
		Reason: v1.ReasonPodsUnavailable, What: "The Deployment was scaled to 0, where its autoscaler does nothing.", Evidence: evidence,
		Next: []string{fmt.Sprintf("Let it scale again: kubectl scale deployment %s --replicas=%d", f.app.Name, minimum)},
	}}
}

// reasonScalingDisabled is the reason of an autoscaler whose target has 0 replicas.
const reasonScalingDisabled = "ScalingDisabled"

// reasonAmbiguous is the reason of an autoscaler beside another one of the same pods.
const reasonAmbiguous = "AmbiguousSelector"

// HasRivalAutoscaler reports whether the autoscaler of the Application does not scale, because another one has the same pods.
func HasRivalAutoscaler(application *v1.Application) bool {
	active := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionAutoscalingActive)
	return active != nil && active.Status == metav1.ConditionFalse && active.Reason == reasonAmbiguous
}

// ambiguousAutoscaler explains two autoscalers of the same pods: neither scales. It names the other one, if the user may read it.
func (f facts) ambiguousAutoscaler(condition *metav1.Condition) Finding {
	evidence, next := f.scalers(f.app.Name, "delete the HorizontalPodAutoscaler, or remove spec.autoscaling.")
	if len(next) == 0 {
		next = []string{"Delete the HorizontalPodAutoscaler that is not the Application's: kubectl get horizontalpodautoscalers"}
	}
	return Finding{
		Reason: condition.Reason, What: "The autoscaler does not scale, because another one has the same pods.",
		Evidence: append([]Evidence{f.conditionEvidence(condition)}, evidence...), Next: next,
	}
}

func (f facts) autoscalerDisabled() bool {
	if f.app.Spec.Autoscaling == nil || f.app.Status.DesiredReplicas > 0 || !f.observed() || f.app.DeletionTimestamp != nil {
		return false
	}
	stalled, active := f.condition(v1.ConditionStalled), f.condition(v1.ConditionAutoscalingActive)
	return stalled != nil && stalled.Reason == v1.ReasonPodsUnavailable || active != nil && active.Reason == reasonScalingDisabled
}

// LeavesReplicas reports whether the Application has a Deployment, and leaves its number of pods to the clients that scale it.
func LeavesReplicas(loaded *cluster.Loaded) bool { return leftReplicas(loaded) != nil }

// leftReplicas is the Deployment of LeavesReplicas, or nil.
func leftReplicas(loaded *cluster.Loaded) *appsv1.Deployment {
	application := loaded.Application
	if application.Spec.Replicas != nil || application.Spec.Autoscaling != nil || application.DeletionTimestamp != nil {
		return nil
	}
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, application.Name)
	if deployment == nil || !child.OwnedBy(deployment, application) || deployment.Spec.Replicas == nil {
		return nil
	}
	return deployment
}

// ReplicasOverClass reports whether the Deployment has more replicas than the class allows the spec.
func ReplicasOverClass(loaded *cluster.Loaded) bool {
	deployment := leftReplicas(loaded)
	return deployment != nil && loaded.MaxReplicas != nil && *deployment.Spec.Replicas > *loaded.MaxReplicas
}

// overClass finds a Deployment with more replicas than the class allows the spec. The controller leaves them.
func overClass(f facts) []Finding {
	_, class := f.class()
	if class == "" || !ReplicasOverClass(f.Loaded) {
		return nil
	}
	deployment := leftReplicas(f.Loaded)
	finding := Finding{
		Reason: "ReplicasOverClass",
		What: fmt.Sprintf("Deployment %s has %d replicas, more than the %d that ApplicationClass %s allows a spec. "+
			"This spec leaves the number to the clients that scale the Deployment, and the class does not limit those.",
			deployment.Name, *deployment.Spec.Replicas, *f.MaxReplicas, class),
		Evidence: scaledBy(deployment),
	}
	if len(finding.Evidence) == 0 {
		finding.Evidence = []Evidence{{Object: child.Deployment.Kind + "/" + deployment.Name, Field: "spec.replicas", Message: strconv.Itoa(int(*deployment.Spec.Replicas))}}
	}
	evidence, next := f.scalers(deployment.Name, "lower its maxReplicas, or replace it by spec.autoscaling.")
	finding.Evidence = append(finding.Evidence, evidence...)
	switch _, unreadable := f.Unreadable[child.HorizontalPodAutoscaler.Resource]; {
	case *f.MaxReplicas == 0: // No autoscaler goes that low, and the deletion of the Application is not for this rule to advise.
	case len(next) > 0:
		finding.Next = next // With spec.replicas too, the controller and the autoscaler would contend.
	case unreadable:
		finding.Next = []string{fmt.Sprintf("To have no more than the class allows, set spec.replicas, unless an autoscaler scales the Deployment: "+
			"kubectl fairlead scale %s --replicas=%d", f.app.Name, *f.MaxReplicas)}
	default:
		finding.Next = []string{fmt.Sprintf("To have no more than the class allows, set spec.replicas: kubectl fairlead scale %s --replicas=%d", f.app.Name, *f.MaxReplicas)}
	}
	return []Finding{finding}
}

// scaledBy is the client that set the number of pods, as far as the Deployment shows it: the subresource scale leaves 0 out, and no trace.
// Fairlead keeps the number that another client has set.
func scaledBy(deployment *appsv1.Deployment) []Evidence {
	replicas := fieldpath.MakePathOrDie("spec", "replicas")
	for _, entry := range deployment.ManagedFields {
		if strings.HasPrefix(entry.Manager, v1.ManagedBy) || !managers.Has(entry, replicas) {
			continue
		}
		evidence := Evidence{Object: child.Deployment.Kind + "/" + deployment.Name, Field: "metadata.managedFields", Message: entry.Manager + " set " + replicas.String()}
		if entry.Time != nil {
			evidence.Time = &entry.Time.Time
		}
		return []Evidence{evidence}
	}
	return nil
}
