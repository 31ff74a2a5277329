// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// mergeResources takes requests and limits by the name of the resource. It omits those that contradict the Application:
// Kubernetes defaults the request to the limit.
func mergeResources(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if defaults.Resources == nil {
		return
	}
	own := corev1.ResourceRequirements{}
	if spec.Resources != nil {
		own = *spec.Resources
	}
	merged, from := *own.DeepCopy(), corev1.ResourceRequirements{}
	for name, limit := range defaults.Resources.Limits {
		request, requested := own.Requests[name]
		if _, limited := own.Limits[name]; limited || requested && contradict(name, request, limit) {
			continue
		}
		merged.Limits = with(merged.Limits, name, limit)
		from.Limits = with(from.Limits, name, limit)
	}
	for name, request := range defaults.Resources.Requests {
		limit, limited := own.Limits[name]
		if _, requested := own.Requests[name]; requested || limited && contradict(name, request, limit) {
			continue
		}
		merged.Requests = with(merged.Requests, name, request)
		from.Requests = with(from.Requests, name, request)
	}
	if len(from.Limits)+len(from.Requests) > 0 {
		spec.Resources, taken.Resources = &merged, &from
	}
}

// contradict reports whether Kubernetes refuses the request beside the limit. Resources that cannot be overcommitted,
// such as devices and huge pages, need equal ones.
func contradict(name corev1.ResourceName, request, limit resource.Quantity) bool {
	if strings.Contains(string(name), "/") || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
		return request.Cmp(limit) != 0
	}
	return request.Cmp(limit) > 0
}

// mergeTopologySpread takes all constraints or none: an Application with constraints of its own has a complete set.
func mergeTopologySpread(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if len(spec.TopologySpreadConstraints) == 0 {
		spec.TopologySpreadConstraints = defaults.TopologySpreadConstraints
		taken.TopologySpreadConstraints = defaults.TopologySpreadConstraints
	}
}

func mergeNodeSelector(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	spec.NodeSelector, taken.NodeSelector = mergeKeys(spec.NodeSelector, defaults.NodeSelector)
}

func mergeTolerations(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	taken.Tolerations = mergeItems(&spec.Tolerations, defaults.Tolerations,
		func(a, b corev1.Toleration) bool { return equality.Semantic.DeepEqual(a, b) })
}

func mergePriorityClassName(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if spec.PriorityClassName == "" {
		spec.PriorityClassName, taken.PriorityClassName = defaults.PriorityClassName, defaults.PriorityClassName
	}
}

func mergeImagePullSecrets(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	taken.ImagePullSecrets = mergeItems(&spec.ImagePullSecrets, defaults.ImagePullSecrets,
		func(a, b corev1.LocalObjectReference) bool { return a.Name == b.Name })
}

func mergePodMetadata(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	if defaults.PodMetadata == nil {
		return
	}
	merged := v1.PodMetadata{}
	if spec.PodMetadata != nil {
		merged = *spec.PodMetadata
	}
	from := v1.PodMetadata{}
	merged.Labels, from.Labels = mergeKeys(merged.Labels, defaults.PodMetadata.Labels)
	merged.Annotations, from.Annotations = mergeKeys(merged.Annotations, defaults.PodMetadata.Annotations)
	if len(from.Labels)+len(from.Annotations) > 0 {
		spec.PodMetadata, taken.PodMetadata = &merged, &from
	}
}

// mergeGracePeriod omits a period that would end before the Application's own preStop hook.
func mergeGracePeriod(spec *v1.ApplicationSpec, defaults, taken *v1.ApplicationDefaults) {
	seconds := defaults.TerminationGracePeriodSeconds
	if spec.TerminationGracePeriodSeconds == nil && seconds != nil && longestSleep(spec) <= *seconds {
		spec.TerminationGracePeriodSeconds, taken.TerminationGracePeriodSeconds = seconds, seconds
	}
}

// longestSleep is the longest sleep of all preStop and postStart actions.
func longestSleep(spec *v1.ApplicationSpec) int64 {
	lifecycles := []*corev1.Lifecycle{spec.Lifecycle}
	for i := range spec.InitContainers {
		lifecycles = append(lifecycles, spec.InitContainers[i].Lifecycle)
	}
	for i := range spec.Sidecars {
		lifecycles = append(lifecycles, spec.Sidecars[i].Lifecycle)
	}
	var longest int64
	for _, lifecycle := range lifecycles {
		if lifecycle == nil {
			continue
		}
		for _, handler := range []*corev1.LifecycleHandler{lifecycle.PreStop, lifecycle.PostStart} {
			if handler != nil && handler.Sleep != nil {
				longest = max(longest, handler.Sleep.Seconds)
			}
		}
	}
	return longest
}
