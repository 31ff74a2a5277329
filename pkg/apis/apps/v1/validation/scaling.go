// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"strconv"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const maxReplicas = 10000

func validateReplicas(in input) field.ErrorList {
	errs := between(in.path.Child("replicas"), in.spec.Replicas, 0, maxReplicas)
	if in.spec.Replicas != nil && in.spec.Autoscaling != nil {
		errs = append(errs, field.Forbidden(in.path.Child("replicas"),
			fmt.Sprintf("replicas (%d) and autoscaling (up to %d) exclude each other: remove replicas to scale automatically, or autoscaling for a fixed number",
				*in.spec.Replicas, in.spec.Autoscaling.MaxReplicas)))
	}
	return errs
}

// fewest returns the smallest number of pods that the spec asks for, and whether it asks for any.
func fewest(spec *v1.ApplicationSpec) (replicas int32, known bool) {
	switch {
	case spec.Autoscaling != nil:
		return minReplicas(spec.Autoscaling), true
	case spec.Replicas != nil:
		return *spec.Replicas, true
	}
	return 0, false
}

func minReplicas(autoscaling *v1.Autoscaling) int32 {
	if autoscaling.MinReplicas == nil {
		return 1
	}
	return *autoscaling.MinReplicas
}

// shownMinReplicas returns minReplicas for a message, and marks a default, so that users do not search for it in the
// spec.
func shownMinReplicas(autoscaling *v1.Autoscaling) string {
	if autoscaling.MinReplicas == nil {
		return "1, the default"
	}
	return strconv.Itoa(int(*autoscaling.MinReplicas))
}

func validateAutoscaling(in input) field.ErrorList {
	autoscaling := in.spec.Autoscaling
	if autoscaling == nil {
		return nil
	}
	path := in.path.Child("autoscaling")
	errs := between(path.Child("minReplicas"), autoscaling.MinReplicas, 0, maxReplicas)
	errs = append(errs, between(path.Child("maxReplicas"), &autoscaling.MaxReplicas, 0, maxReplicas)...)
	least := minReplicas(autoscaling)
	if least > autoscaling.MaxReplicas {
		errs = append(errs, field.Invalid(path.Child("maxReplicas"), autoscaling.MaxReplicas, fmt.Sprintf("must be at least minReplicas (%s): lower minReplicas, or raise maxReplicas", shownMinReplicas(autoscaling))))
	}
	// With equal numbers there is no autoscaler, and nothing to measure.
	if least < autoscaling.MaxReplicas {
		errs = append(errs, validateMeasured(path, autoscaling)...)
	}
	for _, target := range []struct {
		name     string
		percent  *int32
		resource corev1.ResourceName
	}{
		{"targetCPUUtilizationPercentage", autoscaling.TargetCPUUtilizationPercentage, corev1.ResourceCPU},
		{"targetMemoryUtilizationPercentage", autoscaling.TargetMemoryUtilizationPercentage, corev1.ResourceMemory},
	} {
		if target.percent != nil {
			errs = append(errs, between(path.Child(target.name), target.percent, 1, 1000)...)
			errs = append(errs, needsRequest(in, path.Child(target.name), target.resource)...)
		}
	}
	errs = append(errs, validateMetrics(in, path.Child("metrics"), autoscaling.Metrics)...)
	if behavior := autoscaling.Behavior; behavior != nil {
		errs = append(errs, validateScalingRules(path.Child("behavior", "scaleUp"), behavior.ScaleUp)...)
		errs = append(errs, validateScalingRules(path.Child("behavior", "scaleDown"), behavior.ScaleDown)...)
	}
	return errs
}

// validateMeasured requires a metric, and at 0 pods a metric that is not about pods.
func validateMeasured(path *field.Path, autoscaling *v1.Autoscaling) field.ErrorList {
	if autoscaling.TargetCPUUtilizationPercentage == nil && autoscaling.TargetMemoryUtilizationPercentage == nil && len(autoscaling.Metrics) == 0 {
		return field.ErrorList{field.Required(path, "at least one of targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage, metrics must be set")}
	}
	if minReplicas(autoscaling) != 0 {
		return nil
	}
	for _, metric := range autoscaling.Metrics {
		if metric.Type == autoscalingv2.ObjectMetricSourceType || metric.Type == autoscalingv2.ExternalMetricSourceType {
			return nil
		}
	}
	return field.ErrorList{field.Invalid(path.Child("minReplicas"), int32(0), "needs an Object or External metric, because there is no pod to measure at 0")}
}

// NeedsRequest is the reason of a target that the requests of the pods, which may come from the class, have to be known for.
const NeedsRequest = "utilization is a share of the request"

// needsRequest requires a request, because utilization is a share of it. The autoscaler needs the requests of all
// containers of the pod. A LimitRange or an injecting webhook may set those of other containers, so this checks only the
// application's own.
func needsRequest(in input, path *field.Path, name corev1.ResourceName) field.ErrorList {
	if requested(in.spec.Resources, name) {
		return nil
	}
	missing := fmt.Sprintf("resources.requests[%s]", truncate(string(name), maxValue))
	if in.formerPods {
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("%s, but the revision has no %s", NeedsRequest, missing))}
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("%s: set %s", NeedsRequest, missing))}
}

// Limits of the autoscaler's behavior.
const (
	maxStabilizationWindowSeconds = 3600
	maxPolicyPeriodSeconds        = 1800
)

func validateScalingRules(path *field.Path, rules *autoscalingv2.HPAScalingRules) field.ErrorList {
	if rules == nil {
		return nil
	}
	errs := between(path.Child("stabilizationWindowSeconds"), rules.StabilizationWindowSeconds, 0, maxStabilizationWindowSeconds)
	if rules.SelectPolicy != nil {
		errs = append(errs, oneOf(path.Child("selectPolicy"), *rules.SelectPolicy,
			autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect, autoscalingv2.DisabledPolicySelect)...)
	}
	for i, policy := range rules.Policies {
		path := path.Child("policies").Index(i)
		errs = append(errs, oneOf(path.Child("type"), policy.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)...)
		errs = append(errs, positive(path.Child("value"), &policy.Value)...)
		errs = append(errs, between(path.Child("periodSeconds"), &policy.PeriodSeconds, 1, maxPolicyPeriodSeconds)...)
	}
	if tolerance := rules.Tolerance; tolerance != nil && tolerance.Sign() < 0 {
		errs = append(errs, field.Invalid(path.Child("tolerance"), tolerance.String(), "must be greater than or equal to 0"))
	}
	return errs
}
