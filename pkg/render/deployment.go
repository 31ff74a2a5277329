// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const defaultRevisionHistoryLimit = 5

// deployments renders the Deployment.
func deployments(app *v1.Application, facts Facts) ([]any, error) {
	template, err := podTemplate(app)
	if err != nil {
		return nil, err
	}
	spec := appsv1ac.DeploymentSpec().
		WithSelector(labelSelector(app)).
		WithTemplate(template).
		WithStrategy(strategy(app.Spec.Strategy)).
		WithProgressDeadlineSeconds(ProgressDeadlineSeconds(app)).
		WithRevisionHistoryLimit(revisionHistoryLimit(app))
	// The API server drops false, so it would never return it. Omitting the field ends a pause of ours nevertheless:
	// server-side apply removes fields that their manager no longer sets.
	if paused := app.Spec.Paused; paused != nil && *paused {
		spec.WithPaused(true)
	}
	if seconds := app.Spec.MinReadySeconds; seconds != nil && *seconds > 0 {
		spec.WithMinReadySeconds(*seconds)
	}
	deployment := appsv1ac.Deployment(app.Name, app.Namespace).WithSpec(spec)
	deployment.ObjectMetaApplyConfiguration = objectMeta(app, app.Name, nil)
	facts.References.annotate(deployment)
	facts.Revision.annotate(deployment)
	if replicas := FixedReplicas(app); replicas != nil {
		spec.WithReplicas(*replicas)
		// A later sync that omits replicas must know that it was set: omitting an owned field resets it to its default of
		// 1.
		deployment.WithAnnotations(map[string]string{v1.AnnotationReplicasManaged: "true"})
	}
	return []any{deployment}, nil
}

func revisionHistoryLimit(app *v1.Application) int32 {
	if limit := app.Spec.RevisionHistoryLimit; limit != nil {
		return *limit
	}
	return defaultRevisionHistoryLimit
}

// strategy returns the strategy with defaults. By default a rollout never reduces capacity (maxUnavailable 0) and
// adds a quarter on top.
//
// An unset field keeps its default, with one exception: maxSurge 0 with maxUnavailable unset. The API server refuses
// 0 for both, since that could replace nothing, and a user who sets maxSurge 0 wants no additional pods. So
// maxUnavailable becomes 1.
func strategy(given *appsv1.DeploymentStrategy) *appsv1ac.DeploymentStrategyApplyConfiguration {
	if given == nil {
		given = &appsv1.DeploymentStrategy{}
	}
	if given.Type == appsv1.RecreateDeploymentStrategyType {
		return appsv1ac.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	maxUnavailable, maxSurge := intstr.FromInt32(0), intstr.FromString("25%")
	if rolling := given.RollingUpdate; rolling != nil {
		if rolling.MaxSurge != nil {
			maxSurge = *rolling.MaxSurge
		}
		switch {
		case rolling.MaxUnavailable != nil:
			maxUnavailable = *rolling.MaxUnavailable
		case v1.IsZeroIntOrPercent(&maxSurge):
			maxUnavailable = intstr.FromInt32(1)
		}
	}
	return appsv1ac.DeploymentStrategy().
		WithType(appsv1.RollingUpdateDeploymentStrategyType).
		WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
			WithMaxUnavailable(maxUnavailable).
			WithMaxSurge(maxSurge))
}
