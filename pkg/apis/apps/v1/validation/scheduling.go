// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func validateScheduling(in input) field.ErrorList {
	errs := validateLabels(in.path.Child("nodeSelector"), in.spec.NodeSelector)
	errs = append(errs, validateTolerations(in.path.Child("tolerations"), in.spec.Tolerations)...)
	errs = append(errs, validateAffinity(in.path.Child("affinity"), in.spec.Affinity)...)
	errs = append(errs, validateTopologySpread(in)...)
	if name := in.spec.PriorityClassName; name != "" {
		errs = append(errs, subdomain(in.path.Child("priorityClassName"), name)...)
	}
	return errs
}

func validateTolerations(path *field.Path, tolerations []corev1.Toleration) field.ErrorList {
	errs := tooMany(path, len(tolerations), 64)
	for i, toleration := range tolerations {
		path := path.Index(i)
		if toleration.Key != "" {
			errs = append(errs, metav1validation.ValidateLabelName(toleration.Key, path.Child("key"))...)
		} else if toleration.Operator != corev1.TolerationOpExists {
			errs = append(errs, field.Invalid(path.Child("operator"), toleration.Operator, "must be Exists while key is empty, which means every taint"))
		}
		if toleration.TolerationSeconds != nil && toleration.Effect != corev1.TaintEffectNoExecute {
			errs = append(errs, field.Invalid(path.Child("effect"), toleration.Effect, "must be NoExecute while tolerationSeconds is set"))
		}
		switch toleration.Operator {
		case corev1.TolerationOpEqual, "":
			errs = append(errs, invalid(path.Child("value"), toleration.Value, validation.IsValidLabelValue(toleration.Value))...)
		case corev1.TolerationOpExists:
			if toleration.Value != "" {
				errs = append(errs, field.Invalid(path.Child("value"), toleration.Value, "must be empty with operator Exists"))
			}
		default:
			errs = append(errs, field.NotSupported(path.Child("operator"), toleration.Operator,
				[]corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}))
		}
		errs = append(errs, enum(path.Child("effect"), toleration.Effect,
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
	}
	return errs
}

func validateTopologySpread(in input) field.ErrorList {
	path := in.path.Child("topologySpreadConstraints")
	errs := tooMany(path, len(in.spec.TopologySpreadConstraints), 16)
	seen := names{}
	for i := range in.spec.TopologySpreadConstraints {
		constraint, path := &in.spec.TopologySpreadConstraints[i], path.Index(i)
		errs = append(errs, positive(path.Child("maxSkew"), &constraint.MaxSkew)...)
		if constraint.TopologyKey == "" {
			errs = append(errs, field.Required(path.Child("topologyKey"), "must be a label of nodes, e.g. kubernetes.io/hostname"))
		} else {
			errs = append(errs, metav1validation.ValidateLabelName(constraint.TopologyKey, path.Child("topologyKey"))...)
		}
		errs = append(errs, oneOf(path.Child("whenUnsatisfiable"), constraint.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)...)
		errs = append(errs, seen.add(path, fmt.Sprintf("{%s, %s}", constraint.TopologyKey, constraint.WhenUnsatisfiable))...)
		if constraint.MinDomains != nil {
			errs = append(errs, positive(path.Child("minDomains"), constraint.MinDomains)...)
			if constraint.WhenUnsatisfiable != corev1.DoNotSchedule {
				errs = append(errs, field.Invalid(path.Child("minDomains"), *constraint.MinDomains, "needs whenUnsatisfiable DoNotSchedule"))
			}
		}
		errs = append(errs, validateInclusion(path.Child("nodeAffinityPolicy"), constraint.NodeAffinityPolicy)...)
		errs = append(errs, validateInclusion(path.Child("nodeTaintsPolicy"), constraint.NodeTaintsPolicy)...)
		selector := constraint.LabelSelector
		errs = append(errs, validateLabelSelector(path.Child("labelSelector"), selector)...)
		if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
			// An empty selector selects the Application's pods.
			selector = &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelApplication: in.app.Name}}
		}
		errs = append(errs, validateMatchKeys(path.Child("matchLabelKeys"), constraint.MatchLabelKeys, selector)...)
	}
	return errs
}

func validateInclusion(path *field.Path, policy *corev1.NodeInclusionPolicy) field.ErrorList {
	if policy == nil {
		return nil
	}
	return oneOf(path, *policy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
}

// validateMatchKeys checks the keys that the scheduler adds to the selector, with the pod's own values.
func validateMatchKeys(path *field.Path, keys []string, selector *metav1.LabelSelector) field.ErrorList {
	if len(keys) == 0 {
		return nil
	}
	if selector == nil {
		return nil // that it is missing is said already
	}
	selected := names{}
	for key := range selector.MatchLabels {
		selected[key] = nil
	}
	for _, requirement := range selector.MatchExpressions {
		selected[requirement.Key] = nil
	}
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, metav1validation.ValidateLabelName(key, path.Index(i))...)
		if _, found := selected[key]; found {
			errs = append(errs, field.Invalid(path.Index(i), key, "is in labelSelector already"))
		}
	}
	return errs
}
