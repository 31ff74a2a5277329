// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
)

// spreads warns of constraints that the request begins to have, or whose pods it gives other labels.
func (h *Handler) spreads(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || len(in.new.Spec.TopologySpreadConstraints) == 0 {
		return nil
	}
	var before []string
	if in.old != nil {
		before = SpreadsNothing(in.old, h.resolved(ctx, in.old))
	}
	for _, warning := range SpreadsNothing(in.new, h.resolved(ctx, in.new)) {
		if !slices.Contains(before, warning) {
			found.warnings = append(found.warnings, warning)
		}
	}
	return nil
}

// SpreadsNothing returns a warning for each topologySpreadConstraint of given whose labelSelector selects no pod of the Application. resolved
// is given with the defaults of its class, which may have labels for the pods. Pods of an adopted Deployment have labels of their own, so it
// says nothing of them.
func SpreadsNothing(given, resolved *v1.Application) []string {
	if given.Name == "" || given.Spec.AdoptionPolicy == v1.AdoptionConsented {
		return nil
	}
	pod := labels.Set(render.PodLabels(resolved))
	var warnings []string
	for i := range given.Spec.TopologySpreadConstraints {
		constraint := &given.Spec.TopologySpreadConstraints[i]
		selector, err := metav1.LabelSelectorAsSelector(constraint.LabelSelector)
		if constraint.LabelSelector == nil || err != nil || selector.Matches(pod) || namesReplicaSet(constraint.LabelSelector) {
			continue
		}
		warning := fmt.Sprintf("spec.topologySpreadConstraints[%s].labelSelector: it selects no pod of this Application, so the constraint does not spread them: "+
			"remove labelSelector to spread the Application's pods, or give them its labels in spec.podMetadata.labels", constraint.TopologyKey)
		if !slices.Contains(warnings, warning) {
			warnings = append(warnings, warning)
		}
	}
	return warnings
}

// namesReplicaSet reports whether a selector has the label that only the Deployment controller gives to pods.
func namesReplicaSet(selector *metav1.LabelSelector) bool {
	_, found := selector.MatchLabels[appsv1.DefaultDeploymentUniqueLabelKey]
	return found || slices.ContainsFunc(selector.MatchExpressions, func(requirement metav1.LabelSelectorRequirement) bool {
		return requirement.Key == appsv1.DefaultDeploymentUniqueLabelKey
	})
}
