// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// An adopted Deployment keeps its selector, which nothing can change, and at first its pods, which lack Fairlead's
// label. The live Deployment is the record of both.

// KeptSelector returns the selector of a live Deployment if it is not Fairlead's, and nil otherwise. An adopted one has
// labels only, all of which its pods carry; any other selector is no adoption's.
func KeptSelector(application *v1.Application, live *appsv1.Deployment) *metav1.LabelSelector {
	ours := &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelApplication: application.Name}}
	if live == nil || live.Spec.Selector == nil || equality.Semantic.DeepEqual(live.Spec.Selector, ours) {
		return nil
	}
	selector := live.Spec.Selector
	if len(selector.MatchLabels) == 0 || len(selector.MatchExpressions) > 0 {
		return nil
	}
	for key, value := range selector.MatchLabels {
		if carried, has := live.Spec.Template.Labels[key]; !has || carried != value {
			return nil
		}
	}
	return selector
}

// keepSelector omits the selector of a rendered Deployment if the live one has another, and gives the pods the labels that it
// selects: the API server refuses a template without them. So a user may remove them from spec.podMetadata, and a revision from
// before may run again. A label with another value than Fairlead gives it is the user's, and stays. The hash of the
// rendering stays. A Deployment that is created again gets Fairlead's selector.
func keepSelector(application *v1.Application, desired *child.Desired, live child.Object) error {
	deployment, ok := live.(*appsv1.Deployment)
	if !ok {
		return nil
	}
	kept := KeptSelector(application, deployment)
	if kept == nil {
		return nil
	}
	object, err := desired.Object()
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(object.Object, "spec", "selector")
	ours := map[string]string{v1.LabelName: application.Name, v1.LabelManagedBy: v1.ManagedBy}
	path := []string{"spec", "template", "metadata", "labels"}
	rendered, _, err := unstructured.NestedStringMap(object.Object, path...)
	if err != nil {
		return fmt.Errorf("read the labels of the pods: %w", err)
	}
	for key, value := range kept.MatchLabels {
		if has, found := rendered[key]; found && has != ours[key] {
			continue
		}
		if err := unstructured.SetNestedField(object.Object, value, append(path, key)...); err != nil {
			return fmt.Errorf("label the pods: %w", err)
		}
	}
	desired.Configuration = object
	return nil
}

// allUpdated reports whether every pod of a Deployment is of its present template, and available. Pods that are being
// deleted do not count. A paused Deployment without pods has none of its present template: scaled up, it starts old ones.
func allUpdated(live *appsv1.Deployment) bool {
	replicas := replicasOf(live)
	if replicas == 0 && live.Spec.Paused {
		return false
	}
	return live.Status.ObservedGeneration >= live.Generation && live.Status.Replicas == replicas &&
		live.Status.UpdatedReplicas == replicas && live.Status.AvailableReplicas == replicas
}

// LacksLabels reports whether pods of an adopted Deployment may lack Fairlead's label: from the adoption until the first
// rollout is complete. From then on the template has the label, and the condition Adopted remembers it.
func LacksLabels(application *v1.Application, live *appsv1.Deployment) bool {
	return KeptSelector(application, live) != nil && !allUpdated(live) &&
		!meta.IsStatusConditionTrue(application.Status.Conditions, v1.ConditionAdopted)
}

// mayServe reports whether a Service may select by Fairlead's label: the Deployment is as rendered, and every pod is
// one of its.
func mayServe(steps []Step) bool {
	step := deploymentStep(steps)
	if step == nil || step.Action != Keep {
		return false
	}
	live, ok := step.Live.(*appsv1.Deployment)
	return ok && allUpdated(live)
}

// holdForPods makes the children wait that act on pods by Fairlead's label, while pods lack it: until the Deployment is
// adopted, and then until every pod is replaced. They would part the new pods from the old ones, and a Service would lose these.
//
// While the informers lack the Deployment, because it has no label of Fairlead's, it may as well not exist. Then its
// NetworkPolicy comes first, as it must: no pod may start without it. To old pods it does not apply.
func holdForPods(application *v1.Application, steps []Step) {
	deployment := deploymentStep(steps)
	if deployment == nil {
		return
	}
	live, _ := deployment.Live.(*appsv1.Deployment)
	lacksLabels := live != nil && LacksLabels(application, live)
	isOwn := live != nil && deployment.Action != NotOwned && deployment.Action != Adopt
	for i := range steps {
		if step := &steps[i]; step.Action == Apply && selectsOthers(application, step.Live) && (!isOwn || lacksLabels) {
			*step = step.wait("it waits until every pod carries the label " + v1.LabelApplication)
		}
	}
	adopts := deployment.Action == Adopt || deployment.Adoption != ""
	if !adopts && (!isOwn || !lacksLabels) {
		return
	}
	for i := range steps {
		step := &steps[i]
		selects := step.Ref.Kind == child.PodDisruptionBudget || step.Ref.Kind == child.NetworkPolicy
		if selects && (step.Action == Create || step.Action == Apply) {
			*step = step.wait("it waits until every pod carries the label " + v1.LabelApplication)
		}
	}
}

// selectsOthers reports whether an object is a Service that selects pods without Fairlead's label. The Application can own one whose pods lack it:
// an earlier Application that was deleted in the middle of an adoption left both behind.
func selectsOthers(application *v1.Application, live child.Object) bool {
	service, ok := live.(*corev1.Service)
	return ok && len(service.Spec.Selector) > 0 && service.Spec.Selector[v1.LabelApplication] != application.Name
}

// deploymentStep returns the step of the rendered Deployment, or nil.
func deploymentStep(steps []Step) *Step {
	i := slices.IndexFunc(steps, func(s Step) bool { return s.Ref.Kind == child.Deployment && s.Desired != nil })
	if i < 0 {
		return nil
	}
	return &steps[i]
}

// SharedBy returns the step of a Service as one that waits, because the live one selects a pod that is not the Application's. A controller
// creates a pod again, with the same labels, and its own selector cannot change. All pods of the Application have its label by now, so the
// Service may select by that.
func (s Step) SharedBy(application *v1.Application, pod string) Step {
	s.Action, s.Adoption = NotOwned, AdoptionShared
	s.Reason = s.Ref.Kind.Kind + " " + s.Ref.Name + " cannot be adopted because it selects pod " + pod + ", which does not carry the label " +
		v1.LabelApplication + " of the Application; change the labels in the pod template of its controller, or, if the controller selects by them, " +
		"replace it by one with another selector; without a controller, delete the pod or give it other labels; or, if it needs no requests, " +
		"add " + v1.LabelApplication + ": " + application.Name + " to the selector of the Service"
	return s
}
