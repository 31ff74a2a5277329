// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"reflect"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	autoscalingv2ac "k8s.io/client-go/applyconfigurations/autoscaling/v2"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// autoscalers renders the HorizontalPodAutoscaler, if there is something to scale.
func autoscalers(app *v1.Application, _ Facts) ([]any, error) {
	if !Autoscaled(app) {
		return nil, nil
	}
	autoscaling := app.Spec.Autoscaling
	metrics, err := metrics(autoscaling)
	if err != nil {
		return nil, err
	}
	spec := autoscalingv2ac.HorizontalPodAutoscalerSpec().
		WithScaleTargetRef(autoscalingv2ac.CrossVersionObjectReference().
			WithAPIVersion(child.Deployment.GroupVersionKind().GroupVersion().String()).
			WithKind(child.Deployment.Kind).
			WithName(app.Name)).
		WithMinReplicas(MinReplicas(autoscaling)).
		WithMaxReplicas(autoscaling.MaxReplicas).
		WithMetrics(metrics...)
	if behavior := decided(autoscaling.Behavior); behavior != nil {
		converted, err := convert[autoscalingv2ac.HorizontalPodAutoscalerBehaviorApplyConfiguration](behavior)
		if err != nil {
			return nil, err
		}
		spec.WithBehavior(converted)
	}
	autoscaler := autoscalingv2ac.HorizontalPodAutoscaler(app.Name, app.Namespace).WithSpec(spec)
	autoscaler.ObjectMetaApplyConfiguration = objectMeta(app, app.Name, nil)
	return []any{autoscaler}, nil
}

// decided returns the behavior without empty rules, to which the autoscaler's defaults apply as if they were absent.
// An apply that turns a rule with fields into an empty one removes the rule, so the live object would differ from the
// rendered one.
func decided(behavior *autoscalingv2.HorizontalPodAutoscalerBehavior) *autoscalingv2.HorizontalPodAutoscalerBehavior {
	if behavior == nil {
		return nil
	}
	says := func(rules *autoscalingv2.HPAScalingRules) *autoscalingv2.HPAScalingRules {
		if rules == nil || reflect.ValueOf(*rules).IsZero() {
			return nil
		}
		return rules
	}
	up, down := says(behavior.ScaleUp), says(behavior.ScaleDown)
	if up == nil && down == nil {
		return nil
	}
	return &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: up, ScaleDown: down}
}

// metrics returns the metrics of the spec in a fixed order: CPU, memory, then the custom ones.
func metrics(autoscaling *v1.Autoscaling) ([]*autoscalingv2ac.MetricSpecApplyConfiguration, error) {
	var metrics []*autoscalingv2ac.MetricSpecApplyConfiguration
	if target := autoscaling.TargetCPUUtilizationPercentage; target != nil {
		metrics = append(metrics, utilization(corev1.ResourceCPU, *target))
	}
	if target := autoscaling.TargetMemoryUtilizationPercentage; target != nil {
		metrics = append(metrics, utilization(corev1.ResourceMemory, *target))
	}
	further, err := convertAll[autoscalingv2ac.MetricSpecApplyConfiguration](autoscaling.Metrics)
	return append(metrics, further...), err
}

func utilization(name corev1.ResourceName, percent int32) *autoscalingv2ac.MetricSpecApplyConfiguration {
	return autoscalingv2ac.MetricSpec().
		WithType(autoscalingv2.ResourceMetricSourceType).
		WithResource(autoscalingv2ac.ResourceMetricSource().
			WithName(name).
			WithTarget(autoscalingv2ac.MetricTarget().
				WithType(autoscalingv2.UtilizationMetricType).
				WithAverageUtilization(percent)))
}
