// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rendertest

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// rollout draws how pods are replaced, and what the controller may do.
func rollout(t *rapid.T, spec *v1.ApplicationSpec) {
	spec.Strategy = maybe(t, "strategy", rapid.Custom(func(t *rapid.T) appsv1.DeploymentStrategy {
		switch strategy := oneOf(t, "type", "", appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType); strategy {
		case appsv1.RecreateDeploymentStrategyType:
			return appsv1.DeploymentStrategy{Type: strategy}
		default:
			return appsv1.DeploymentStrategy{Type: strategy, RollingUpdate: &appsv1.RollingUpdateDeployment{
				// Only one of them may be zero.
				MaxUnavailable: maybe(t, "maxUnavailable", rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(1), intstr.FromString("50%")})),
				MaxSurge:       maybe(t, "maxSurge", rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(2), intstr.FromString("0%")})),
			}}
		}
	}))
	spec.MinReadySeconds = maybe(t, "minReadySeconds", rapid.Int32Range(0, 10))
	spec.ProgressDeadlineSeconds = maybe(t, "progressDeadlineSeconds", rapid.Int32Range(11, 700))
	spec.RevisionHistoryLimit = maybe(t, "revisionHistoryLimit", rapid.Int32Range(0, 3))
	spec.Paused = maybe(t, "paused", rapid.Bool())
	spec.ReconcilePolicy = oneOf(t, "reconcilePolicy", "", v1.ReconcileEnforce)
	spec.DeletionPolicy = oneOf(t, "deletionPolicy", "", v1.DeletionDelete, v1.DeletionOrphan)
}
