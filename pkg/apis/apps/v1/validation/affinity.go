// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The two strengths of affinity, as the names of their fields.
const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

func validateAffinity(path *field.Path, affinity *corev1.Affinity) field.ErrorList {
	if affinity == nil {
		return nil
	}
	var errs field.ErrorList
	if affinity.NodeAffinity != nil {
		errs = append(errs, validateNodeAffinity(path.Child("nodeAffinity"), affinity.NodeAffinity)...)
	}
	if pods := affinity.PodAffinity; pods != nil {
		errs = append(errs, validatePodAffinity(path.Child("podAffinity"),
			pods.RequiredDuringSchedulingIgnoredDuringExecution, pods.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	if pods := affinity.PodAntiAffinity; pods != nil {
		errs = append(errs, validatePodAffinity(path.Child("podAntiAffinity"),
			pods.RequiredDuringSchedulingIgnoredDuringExecution, pods.PreferredDuringSchedulingIgnoredDuringExecution)...)
	}
	return errs
}

func validateNodeAffinity(path *field.Path, affinity *corev1.NodeAffinity) field.ErrorList {
	var errs field.ErrorList
	if selector := affinity.RequiredDuringSchedulingIgnoredDuringExecution; selector != nil {
		path := path.Child(requiredTerms, "nodeSelectorTerms")
		if len(selector.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(path, "must have at least one term"))
		}
		for i := range selector.NodeSelectorTerms {
			errs = append(errs, validateNodeSelectorTerm(path.Index(i), &selector.NodeSelectorTerms[i])...)
		}
	}
	for i := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		term, path := &affinity.PreferredDuringSchedulingIgnoredDuringExecution[i], path.Child(preferredTerms).Index(i)
		errs = append(errs, between(path.Child("weight"), &term.Weight, 1, 100)...)
		errs = append(errs, validateNodeSelectorTerm(path.Child("preference"), &term.Preference)...)
	}
	return errs
}

func validateNodeSelectorTerm(path *field.Path, term *corev1.NodeSelectorTerm) field.ErrorList {
	var errs field.ErrorList
	for i, requirement := range term.MatchExpressions {
		errs = append(errs, validateNodeRequirement(path.Child("matchExpressions").Index(i), requirement)...)
	}
	for i, requirement := range term.MatchFields {
		errs = append(errs, validateNodeFieldRequirement(path.Child("matchFields").Index(i), requirement)...)
	}
	return errs
}

var nodeOperators = []corev1.NodeSelectorOperator{
	corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpGt,
	corev1.NodeSelectorOpIn, corev1.NodeSelectorOpLt, corev1.NodeSelectorOpNotIn,
}

func validateNodeRequirement(path *field.Path, requirement corev1.NodeSelectorRequirement) field.ErrorList {
	errs := metav1validation.ValidateLabelName(requirement.Key, path.Child("key"))
	switch requirement.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(requirement.Values) == 0 {
			errs = append(errs, field.Required(path.Child("values"), "must be set with operator "+string(requirement.Operator)))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(requirement.Values) > 0 {
			errs = append(errs, field.Forbidden(path.Child("values"), "must be empty with operator "+string(requirement.Operator)))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(requirement.Values) != 1 {
			errs = append(errs, field.Required(path.Child("values"), "must have exactly one value with operator "+string(requirement.Operator)))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("operator"), requirement.Operator, nodeOperators))
	}
	for i, value := range requirement.Values {
		errs = append(errs, invalid(path.Child("values").Index(i), value, validation.IsValidLabelValue(value))...)
	}
	return errs
}

func validateNodeFieldRequirement(path *field.Path, requirement corev1.NodeSelectorRequirement) field.ErrorList {
	var errs field.ErrorList
	errs = append(errs, oneOf(path.Child("key"), requirement.Key, metav1.ObjectNameField)...)
	errs = append(errs, oneOf(path.Child("operator"), requirement.Operator, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn)...)
	if len(requirement.Values) != 1 {
		errs = append(errs, field.Required(path.Child("values"), "must have exactly one value"))
	}
	for i, value := range requirement.Values {
		errs = append(errs, invalid(path.Child("values").Index(i), value, validation.IsDNS1123Subdomain(value))...)
	}
	return errs
}

func validatePodAffinity(path *field.Path, terms []corev1.PodAffinityTerm, weighted []corev1.WeightedPodAffinityTerm) field.ErrorList {
	var errs field.ErrorList
	for i := range terms {
		errs = append(errs, validatePodAffinityTerm(path.Child(requiredTerms).Index(i), &terms[i])...)
	}
	for i := range weighted {
		path := path.Child(preferredTerms).Index(i)
		errs = append(errs, between(path.Child("weight"), &weighted[i].Weight, 1, 100)...)
		errs = append(errs, validatePodAffinityTerm(path.Child("podAffinityTerm"), &weighted[i].PodAffinityTerm)...)
	}
	return errs
}

func validatePodAffinityTerm(path *field.Path, term *corev1.PodAffinityTerm) field.ErrorList {
	var errs field.ErrorList
	if term.LabelSelector == nil {
		errs = append(errs, field.Required(path.Child("labelSelector"), "without it the term matches no pod; {} matches all"))
	}
	errs = append(errs, validateLabelSelector(path.Child("labelSelector"), term.LabelSelector)...)
	errs = append(errs, validateLabelSelector(path.Child("namespaceSelector"), term.NamespaceSelector)...)
	for i, namespace := range term.Namespaces {
		errs = append(errs, label(path.Child("namespaces").Index(i), namespace)...)
	}
	if term.TopologyKey == "" {
		errs = append(errs, field.Required(path.Child("topologyKey"), "must be a label of nodes, e.g. kubernetes.io/hostname"))
	} else {
		errs = append(errs, metav1validation.ValidateLabelName(term.TopologyKey, path.Child("topologyKey"))...)
	}
	errs = append(errs, validateMatchKeys(path.Child("matchLabelKeys"), term.MatchLabelKeys, term.LabelSelector)...)
	return append(errs, validateMismatchKeys(path.Child("mismatchLabelKeys"), term)...)
}

func validateMismatchKeys(path *field.Path, term *corev1.PodAffinityTerm) field.ErrorList {
	matched := names{}
	for _, key := range term.MatchLabelKeys {
		matched[key] = nil
	}
	var errs field.ErrorList
	for i, key := range term.MismatchLabelKeys {
		errs = append(errs, metav1validation.ValidateLabelName(key, path.Index(i))...)
		if _, found := matched[key]; found {
			errs = append(errs, field.Invalid(path.Index(i), key, "is in matchLabelKeys already"))
		}
	}
	return errs
}
