// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
)

// requests warns of containers beside the application's own that the request leaves without what its autoscaler needs. It is a warning, because
// a LimitRange or a webhook may set the requests of a pod.
func (h *Handler) requests(ctx context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || in.new.Spec.Autoscaling == nil {
		return nil
	}
	var before []string
	if in.old != nil {
		before = withoutRequest(h.resolved(ctx, in.old))
	}
	for _, warning := range withoutRequest(h.resolved(ctx, in.new)) {
		if !slices.Contains(before, warning) {
			found.warnings = append(found.warnings, warning)
		}
	}
	return nil
}

// withoutRequest returns a warning for each container whose request the autoscaler needs and the spec lacks. Validation refuses an
// application container without one. A container that ends before the pod starts needs none.
func withoutRequest(application *v1.Application) []string {
	if !render.Autoscaled(application) {
		return nil
	}
	var warnings []string
	spec := &application.Spec
	for _, resource := range sharedResources(spec.Autoscaling) {
		warn := func(field string, container *corev1.Container) {
			_, requested := container.Resources.Requests[resource]
			if _, limited := container.Resources.Limits[resource]; requested || limited {
				return // Without a request, the API server takes the limit.
			}
			warnings = append(warnings, fmt.Sprintf("spec.%s[%s].resources.requests[%s]: it is not set, so the autoscaler computes nothing, "+
				"because its target is a share of the requests of all containers: set it, unless a LimitRange does", field, container.Name, resource))
		}
		for i := range spec.Sidecars {
			warn("sidecars", &spec.Sidecars[i])
		}
		for i := range spec.InitContainers {
			if policy := spec.InitContainers[i].RestartPolicy; policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
				warn("initContainers", &spec.InitContainers[i])
			}
		}
	}
	return warnings
}

// sharedResources are the resources that the autoscaler measures as a share of the requests of all containers.
func sharedResources(autoscaling *v1.Autoscaling) []corev1.ResourceName {
	var resources []corev1.ResourceName
	add := func(resource corev1.ResourceName) {
		if !slices.Contains(resources, resource) {
			resources = append(resources, resource)
		}
	}
	if autoscaling.TargetCPUUtilizationPercentage != nil {
		add(corev1.ResourceCPU)
	}
	if autoscaling.TargetMemoryUtilizationPercentage != nil {
		add(corev1.ResourceMemory)
	}
	for i := range autoscaling.Metrics {
		metric := &autoscaling.Metrics[i]
		if metric.Type == autoscalingv2.ResourceMetricSourceType && metric.Resource != nil && metric.Resource.Target.AverageUtilization != nil {
			add(metric.Resource.Name)
		}
	}
	return resources
}
