// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// disruptionBudgets renders the PodDisruptionBudget. Pods that are not ready may always be evicted: keeping them
// helps no user, and blocks the drain of a node.
func disruptionBudgets(app *v1.Application, facts Facts) ([]any, error) {
	given := app.Spec.DisruptionBudget
	if given == nil {
		given = &v1.DisruptionBudget{}
	}
	spec := policyv1ac.PodDisruptionBudgetSpec().
		WithSelector(labelSelector(app)).
		WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow)
	switch cmp.Or(given.Mode, v1.DisruptionBudgetAuto) {
	case v1.DisruptionBudgetAuto:
		// A budget for a single pod would either block every drain or allow everything.
		if !severalPods(app, facts) {
			return nil, nil
		}
		spec.WithMaxUnavailable(intstr.FromInt32(1))
	case v1.DisruptionBudgetCustom:
		// A budget without a number allows no eviction, and so blocks every drain.
		if given.MinAvailable == nil && given.MaxUnavailable == nil {
			return nil, nil
		}
		if given.MinAvailable != nil {
			spec.WithMinAvailable(*given.MinAvailable)
		}
		if given.MaxUnavailable != nil {
			spec.WithMaxUnavailable(*given.MaxUnavailable)
		}
	default:
		return nil, nil
	}
	budget := policyv1ac.PodDisruptionBudget(app.Name, app.Namespace).WithSpec(spec)
	budget.ObjectMetaApplyConfiguration = objectMeta(app, app.Name, nil)
	return []any{budget}, nil
}

// severalPods reports whether more than one pod is wanted. If the spec leaves the number open, or an autoscaler sets it, the live
// Deployment has it.
func severalPods(app *v1.Application, facts Facts) bool {
	if replicas := FixedReplicas(app); replicas != nil {
		return *replicas > 1
	}
	return facts.Replicas > 1 || Autoscaled(app) && MinReplicas(app.Spec.Autoscaling) > 1
}
