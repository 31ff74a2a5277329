// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rendertest

import (
	"maps"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// scaling draws the number of pods: fixed, by an autoscaler, or open.
func scaling(t *rapid.T, spec *v1.ApplicationSpec) {
	switch oneOf(t, "scaling", "open", "fixed", "autoscaled", "no room", "none") {
	case "fixed":
		spec.Replicas = new(rapid.Int32Range(0, 5).Draw(t, "replicas"))
	case "autoscaled":
		spec.Autoscaling = autoscaling(t, spec.Sidecars)
		requestEverything(spec)
	case "no room":
		replicas := rapid.Int32Range(1, 5).Draw(t, "replicas")
		spec.Autoscaling = &v1.Autoscaling{MinReplicas: &replicas, MaxReplicas: replicas}
	case "none":
		spec.Autoscaling = &v1.Autoscaling{MinReplicas: new(int32(0)), MaxReplicas: 0}
	}
	spec.DisruptionBudget = maybe(t, "disruptionBudget", rapid.Custom(func(t *rapid.T) v1.DisruptionBudget {
		budget := v1.DisruptionBudget{Mode: oneOf(t, "mode", "", v1.DisruptionBudgetAuto, v1.DisruptionBudgetCustom, v1.DisruptionBudgetDisabled)}
		if budget.Mode == v1.DisruptionBudgetCustom {
			budget.MaxUnavailable = new(oneOf(t, "maxUnavailable", intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("50%")))
		}
		return budget
	}))
}

// requestEverything gives each container requests, because utilization is relative to them.
func requestEverything(spec *v1.ApplicationSpec) {
	if spec.Resources == nil {
		spec.Resources = &corev1.ResourceRequirements{}
	}
	request(spec.Resources)
	for i := range spec.InitContainers {
		request(&spec.InitContainers[i].Resources)
	}
	for i := range spec.Sidecars {
		request(&spec.Sidecars[i].Resources)
	}
}

func request(resources *corev1.ResourceRequirements) {
	least := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("1Mi")}
	maps.Copy(least, resources.Requests)
	resources.Requests = least
}

func autoscaling(t *rapid.T, sidecars []corev1.Container) *v1.Autoscaling {
	autoscaling := &v1.Autoscaling{
		MinReplicas:                       maybe(t, "minReplicas", rapid.Int32Range(1, 3)),
		MaxReplicas:                       rapid.Int32Range(4, 10).Draw(t, "maxReplicas"),
		TargetCPUUtilizationPercentage:    maybe(t, "cpu", rapid.Int32Range(50, 90)),
		TargetMemoryUtilizationPercentage: maybe(t, "memory", rapid.Int32Range(50, 90)),
	}
	mustHaveMetric := autoscaling.TargetCPUUtilizationPercentage == nil && autoscaling.TargetMemoryUtilizationPercentage == nil
	if mustHaveMetric || sometimes(t, "metrics") {
		autoscaling.Metrics = []autoscalingv2.MetricSpec{
			{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
				Metric: autoscalingv2.MetricIdentifier{Name: "queue", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"queue": "orders"}}},
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse(oneOf(t, "averageValue", "1000m", "30", "100u")))},
			}},
		}
	}
	if len(sidecars) > 0 && sometimes(t, "metric of a sidecar") {
		autoscaling.Metrics = append(autoscaling.Metrics, autoscalingv2.MetricSpec{
			Type: autoscalingv2.ContainerResourceMetricSourceType,
			ContainerResource: &autoscalingv2.ContainerResourceMetricSource{
				Name: corev1.ResourceCPU, Container: sidecars[0].Name,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(60))},
			},
		})
	}
	if sometimes(t, "behavior") {
		autoscaling.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{
			ScaleDown: maybe(t, "scaleDown", rapid.Custom(scalingRules)),
			ScaleUp:   maybe(t, "scaleUp", rapid.Custom(scalingRules)),
		}
	}
	return autoscaling
}

func scalingRules(t *rapid.T) autoscalingv2.HPAScalingRules {
	return autoscalingv2.HPAScalingRules{
		StabilizationWindowSeconds: maybe(t, "stabilizationWindowSeconds", rapid.Int32Range(0, 60)),
		SelectPolicy:               maybe(t, "selectPolicy", rapid.SampledFrom([]autoscalingv2.ScalingPolicySelect{autoscalingv2.MinChangePolicySelect, autoscalingv2.DisabledPolicySelect})),
		Policies: some(t, "policies",
			autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 2, PeriodSeconds: 60},
			autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 50, PeriodSeconds: 30}),
	}
}
