// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/adopt"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// checkAutoscalers refuses an autoscaler that measures the application's container by its name, if that changes: it would
// have no measurement any more. The others, and budgets, stay as they are.
func (a *adopting) checkAutoscalers() error {
	container, err := adopt.Container(a.deployment, a.options)
	if err != nil {
		return err
	}
	for _, autoscaler := range a.autoscalers {
		if at := adopt.MeasuresContainer(autoscaler, container); at >= 0 && container != a.name {
			return fmt.Errorf("HorizontalPodAutoscaler %s: .spec.metrics[%d].containerResource.container is %s, which is called %s in an Application: measure the pods instead, by a metric of the type Resource",
				autoscaler.Name, at, container, a.name)
		}
	}
	return nil
}

// mentions names the annotations of the new pods that may be about the application's container by its former name.
func (a *adopting) mentions(application *v1.Application) (string, error) {
	container, err := adopt.Container(a.deployment, a.options)
	if err != nil || container == a.name || application.Spec.PodMetadata == nil {
		return "", err
	}
	keys := adopt.Mentioning(application.Spec.PodMetadata.Annotations, container)
	if len(keys) == 0 {
		return "", nil
	}
	return fmt.Sprintf("The container %s becomes %s, and these annotations of the pods may mean it: %s. Check them in spec.podMetadata.annotations before you release the rollout.",
		container, a.name, strings.Join(keys, ", ")), nil
}

// staying says what is about the Deployment and stays with the user, and what to do about it later.
func (a *adopting) staying(ctx context.Context, application *v1.Application) (said []string, err error) {
	var names []string
	for _, autoscaler := range a.autoscalers {
		names = append(names, child.HorizontalPodAutoscaler.Kind+" "+autoscaler.Name)
	}
	budgets, err := a.clients.Kube.PolicyV1().PodDisruptionBudgets(a.namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		budgets = &policyv1.PodDisruptionBudgetList{}
	} else if err != nil {
		return nil, fmt.Errorf("find out which budgets protect the pods: %w", err)
	}
	for i := range budgets.Items {
		if selector, err := metav1.LabelSelectorAsSelector(budgets.Items[i].Spec.Selector); err == nil && selector.Matches(labels.Set(a.deployment.Spec.Template.Labels)) {
			names = append(names, child.PodDisruptionBudget.Kind+" "+budgets.Items[i].Name)
		}
	}
	others, err := a.otherServices(ctx)
	if err != nil {
		return nil, err
	}
	created, leading := "", others
	if a.service != nil {
		leading = append(slices.Clone(others), a.name)
	} else if len(application.Spec.Ports) > 0 {
		created = a.name
	}
	routes, err := a.routesTo(ctx, leading)
	return []string{stays(names), servicesStay(others, created), routesStay(routes)}, err
}

// otherServices returns the names of the Services of other names that select the pods. One of the Application's own may appear beside them.
func (a *adopting) otherServices(ctx context.Context) (names []string, err error) {
	services, err := a.clients.Kube.CoreV1().Services(a.namespace).List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find out which Services select the pods: %w", err)
	}
	for i := range services.Items {
		service := &services.Items[i]
		if service.Name != a.name && len(service.Spec.Selector) > 0 && labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(a.deployment.Spec.Template.Labels)) {
			names = append(names, service.Name)
		}
	}
	return names, nil
}

// servicesStay says which Services go on to select the pods, and which one joins them; created is "" if none does.
func servicesStay(names []string, created string) string {
	var said, them string
	switch len(names) {
	case 0:
		return ""
	case 1:
		said, them = "Service "+names[0]+" selects these pods and stays yours.", "it"
	default:
		said, them = "Services "+strings.Join(names, ", ")+" select these pods and stay yours.", "them"
	}
	if created != "" {
		said += " The Application creates Service " + created + " beside " + them + "."
	}
	return said
}

// stays says what a user can do about what was not adopted; nothing if there is none.
func stays(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var fields []string
	for kind, of := range map[string]string{child.HorizontalPodAutoscaler.Kind: "spec.autoscaling", child.PodDisruptionBudget.Kind: "spec.disruptionBudget"} {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, kind+" ") }) {
			fields = append(fields, of)
		}
	}
	slices.Sort(fields)
	said := "Not adopted, and still at work for the new pods: " + strings.Join(names, ", ") + "."
	if len(fields) > 0 {
		said += " To let the Application have its own, set " + strings.Join(fields, " or ") + " once the condition Adopted is True, and delete yours."
	}
	return said
}
