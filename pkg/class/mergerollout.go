// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// mergeStrategy takes the type, unless a field of the Application requires another one, and the two numbers of
// rollingUpdate for a rolling update.
func mergeStrategy(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if defaults.Strategy == nil {
		return
	}
	merged, from := appsv1.DeploymentStrategy{}, appsv1.DeploymentStrategy{}
	if spec.Strategy != nil {
		merged = *spec.Strategy
	}
	if merged.Type == "" && merged.RollingUpdate == nil {
		merged.Type, from.Type = defaults.Strategy.Type, defaults.Strategy.Type
	}
	if rolling := defaults.Strategy.RollingUpdate; rolling != nil && merged.Type != appsv1.RecreateDeploymentStrategyType {
		merged.RollingUpdate, from.RollingUpdate = mergeRollingUpdate(merged.RollingUpdate, rolling)
	}
	if from.Type != "" || from.RollingUpdate != nil {
		spec.Strategy, taken.Strategy = &merged, &from
	}
}

// mergeRollingUpdate returns both numbers, and those that were taken. Two zeros would allow no pod to be replaced, so it
// omits the second one.
func mergeRollingUpdate(own, defaults *appsv1.RollingUpdateDeployment) (merged, taken *appsv1.RollingUpdateDeployment) {
	merged, from := &appsv1.RollingUpdateDeployment{}, appsv1.RollingUpdateDeployment{}
	if own != nil {
		*merged = *own
	}
	isZero := v1.IsZeroIntOrPercent
	if value := defaults.MaxUnavailable; merged.MaxUnavailable == nil && value != nil && (!isZero(value) || !isZero(merged.MaxSurge)) {
		merged.MaxUnavailable, from.MaxUnavailable = value, value
	}
	if value := defaults.MaxSurge; merged.MaxSurge == nil && value != nil && (!isZero(value) || !isZero(merged.MaxUnavailable)) {
		merged.MaxSurge, from.MaxSurge = value, value
	}
	if from.MaxUnavailable == nil && from.MaxSurge == nil {
		return own, nil
	}
	return merged, &from
}

// mergeProgressDeadline omits a deadline before which no pod of the Application could become available.
func mergeProgressDeadline(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	seconds := defaults.ProgressDeadlineSeconds
	if spec.ProgressDeadlineSeconds == nil && seconds != nil && !excludesDeadline(spec, defaults) {
		spec.ProgressDeadlineSeconds, taken.ProgressDeadlineSeconds = seconds, seconds
	}
}

func excludesDeadline(spec *v1.ApplicationSpec, defaults *v1.ApplicationDefaults) bool {
	seconds := defaults.ProgressDeadlineSeconds
	return spec.ProgressDeadlineSeconds == nil && seconds != nil && spec.MinReadySeconds != nil && *spec.MinReadySeconds >= *seconds
}

// mergeRollback leaves a revision that the spec names as it is: that says nothing about what happens after a failed rollout.
func mergeRollback(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if spec.Rollback != nil && spec.Rollback.Policy != "" || defaults.Rollback == nil {
		return
	}
	merged := v1.Rollback{Policy: defaults.Rollback.Policy}
	if spec.Rollback != nil {
		merged.ToRevision = spec.Rollback.ToRevision
	}
	spec.Rollback, taken.Rollback = &merged, defaults.Rollback
}
