// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

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
	if spec.TerminationGracePeriodSeconds == nil && seconds != nil && !excludesGracePeriod(spec, defaults) {
		spec.TerminationGracePeriodSeconds, taken.TerminationGracePeriodSeconds = seconds, seconds
	}
}

func excludesGracePeriod(spec *v1.ApplicationSpec, defaults *v1.ApplicationDefaults) bool {
	seconds := defaults.TerminationGracePeriodSeconds
	return spec.TerminationGracePeriodSeconds == nil && seconds != nil && longestSleep(spec) > *seconds
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
