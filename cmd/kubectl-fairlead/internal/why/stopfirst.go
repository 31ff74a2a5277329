// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/fairlead/pkg/child"
)

// stopFirst is the way out of a rollout whose new pods find no node, because old pods have the place that they need, and none of these
// may stop before a new one serves.
func (f facts) stopFirst() []string {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil || !child.OwnedBy(deployment, f.app) || deployment.Status.Replicas <= deployment.Status.UpdatedReplicas || mayStop(deployment) {
		return nil
	}
	first := "Or let the rollout first stop an old pod that has the place"
	if deployment.Spec.Replicas == nil || *deployment.Spec.Replicas == 1 {
		first += ", although none serves then until the new one does"
	}
	return []string{first + ": set maxSurge 0 and maxUnavailable 1 in spec.strategy.rollingUpdate."}
}

// mayStop reports whether a rollout of the Deployment may stop an old pod before a new one serves.
func mayStop(deployment *appsv1.Deployment) bool {
	rolling, replicas := deployment.Spec.Strategy.RollingUpdate, 1
	if deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return true
	}
	if deployment.Spec.Replicas != nil {
		replicas = int(*deployment.Spec.Replicas)
	}
	quarter := intstr.FromString("25%") // The default of both.
	surge, unavailable := quarter, quarter
	if rolling != nil {
		surge, unavailable = *intstr.ValueOrDefault(rolling.MaxSurge, quarter), *intstr.ValueOrDefault(rolling.MaxUnavailable, quarter)
	}
	more, errSurge := intstr.GetScaledValueFromIntOrPercent(&surge, replicas, true)
	fewer, errUnavailable := intstr.GetScaledValueFromIntOrPercent(&unavailable, replicas, false)
	return errSurge != nil || errUnavailable != nil || fewer > 0 || more == 0 // Kubernetes takes two zeros for maxUnavailable 1.
}
