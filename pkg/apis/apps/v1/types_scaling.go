// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Autoscaling scales the number of pods between minReplicas and maxReplicas by metrics. It needs at least one of
// targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage and metrics. With minReplicas equal to maxReplicas
// there is no autoscaler, and no metric is needed; the Deployment gets that number.
//
// +kubebuilder:validation:XValidation:rule="(has(self.minReplicas) ? self.minReplicas : 1) <= self.maxReplicas",message="minReplicas (1 if it is left out) must not be more than maxReplicas: lower minReplicas, or raise maxReplicas",messageExpression="'minReplicas %s is more than maxReplicas %s: lower minReplicas, or raise maxReplicas'.format([has(self.minReplicas) ? string(self.minReplicas) : '1, the default,', string(self.maxReplicas)])"
// +kubebuilder:validation:XValidation:rule="has(self.targetCPUUtilizationPercentage) || has(self.targetMemoryUtilizationPercentage) || has(self.metrics) || (has(self.minReplicas) && self.minReplicas == self.maxReplicas)",message="at least one of targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage, metrics must be set",messageExpression="'at least one of targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage, metrics must be set to scale between minReplicas %s and maxReplicas %s'.format([has(self.minReplicas) ? string(self.minReplicas) : '1, the default,', string(self.maxReplicas)])"
type Autoscaling struct {
	// Minimum number of pods. Defaults to 1. 0 only together with maxReplicas 0, or with an Object or External
	// metric where the cluster has the feature HPAScaleToZero.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// Maximum number of pods.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	MaxReplicas int32 `json:"maxReplicas"`

	// Target average CPU utilization, in percent of the requested CPU: 80 means 80%. Needs resources.requests.cpu.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	TargetCPUUtilizationPercentage *int32 `json:"targetCPUUtilizationPercentage,omitempty"`

	// Target average memory utilization, in percent of the requested memory: 80 means 80%. Needs
	// resources.requests.memory.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	// +optional
	TargetMemoryUtilizationPercentage *int32 `json:"targetMemoryUtilizationPercentage,omitempty"`

	// Further metrics, with the fields of a HorizontalPodAutoscaler.
	// An apply replaces the list as a whole, because a metric has no name of its own.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +optional
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`

	// How fast to scale up and down: the field behavior of a HorizontalPodAutoscaler.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}

// DisruptionBudgetMode is the source of the numbers of the PodDisruptionBudget.
// +kubebuilder:validation:Enum=Auto;Custom;Disabled
type DisruptionBudgetMode string

const (
	// DisruptionBudgetAuto allows one pod at a time, once there is more than one. The default.
	DisruptionBudgetAuto DisruptionBudgetMode = "Auto"
	// DisruptionBudgetCustom takes minAvailable or maxUnavailable.
	DisruptionBudgetCustom DisruptionBudgetMode = "Custom"
	// DisruptionBudgetDisabled makes no PodDisruptionBudget.
	DisruptionBudgetDisabled DisruptionBudgetMode = "Disabled"
)

// DisruptionBudget limits voluntary disruptions. A budget that would block every node drain is refused, if the
// spec sets the number of pods. If the spec leaves the number open, a warning says how many pods the budget needs.
//
// +kubebuilder:validation:XValidation:rule="self.mode == 'Custom' ? has(self.minAvailable) != has(self.maxUnavailable) : !has(self.minAvailable) && !has(self.maxUnavailable)",message="mode Custom needs exactly one of minAvailable, maxUnavailable; the other modes take neither",messageExpression="self.mode != 'Custom' ? 'mode %s takes neither minAvailable nor maxUnavailable: set mode to Custom%s'.format([self.mode, !has(self.minAvailable) ? ', or remove maxUnavailable' : has(self.maxUnavailable) ? ' and keep one of them, or remove both' : ', or remove minAvailable']) : has(self.minAvailable) ? 'mode Custom takes one number: remove minAvailable %s or maxUnavailable %s'.format([string(self.minAvailable), string(self.maxUnavailable)]) : 'mode Custom needs minAvailable or maxUnavailable: set one of them, or another mode'"
type DisruptionBudget struct {
	// Which budget the pods get. Auto (the default): a node drain or another voluntary disruption may take one pod at
	// a time, and there is no budget while only one pod is wanted. Custom: the one of minAvailable and maxUnavailable
	// that you set. Disabled: no budget, so a drain may take all pods at once.
	// +kubebuilder:default=Auto
	// +default="Auto"
	// +optional
	Mode DisruptionBudgetMode `json:"mode,omitempty"`

	// Number or percentage of pods that must stay available, such as 1 or 25%. Only with mode Custom.
	// +optional
	MinAvailable *intstr.IntOrString `json:"minAvailable,omitempty"`

	// Number or percentage of pods that may be unavailable, such as 1 or 25%. Only with mode Custom.
	// +optional
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}
