// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func validateService(in input) field.ErrorList {
	if in.spec.Service == nil {
		return nil
	}
	path := in.path.Child("service")
	var errs field.ErrorList
	if len(in.spec.Ports) == 0 {
		errs = append(errs, field.Forbidden(path, "service needs at least one entry in ports"))
	}
	errs = append(errs, enum(path.Child("type"), in.spec.Service.Type, corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer)...)
	errs = append(errs, enum(path.Child("sessionAffinity"), in.spec.Service.SessionAffinity, corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP)...)
	return append(errs, validateAnnotations(path.Child("annotations"), in.spec.Service.Annotations)...)
}

// unreviewedServiceAccount is the message of a controller without webhooks, or with webhooks that end with it.
func unreviewedServiceAccount(in input) string {
	reason := "the controller has no webhooks that check access to the account"
	if in.temporaryWebhooks {
		reason = "the controller runs outside of the cluster (--webhook-url), so nothing checks access to the account while it is stopped"
	}
	return reason + ": remove name, or start the controller with --allow-unreviewed-service-accounts"
}

func validateServiceAccount(in input) field.ErrorList {
	account := in.spec.ServiceAccount
	if account == nil {
		return nil
	}
	path := in.path.Child("serviceAccount")
	errs := validateAnnotations(path.Child("annotations"), account.Annotations)
	if account.Name != "" {
		errs = append(errs, subdomain(path.Child("name"), account.Name)...)
		if !in.foreignServiceAccounts {
			errs = append(errs, field.Forbidden(path.Child("name"), unreviewedServiceAccount(in)))
		}
		if len(account.Annotations) > 0 {
			errs = append(errs, field.Forbidden(path.Child("annotations"), "annotations belong to the ServiceAccount that Fairlead creates: remove them, or remove name"))
		}
	}
	return errs
}

// Labels and annotations that users may not set on pods.
const (
	labelPodTemplateHash = "pod-template-hash"

	annotationMirror         = "kubernetes.io/config.mirror"
	annotationDeletionCost   = "controller.kubernetes.io/pod-deletion-cost"
	annotationTolerations    = "scheduler.alpha.kubernetes.io/tolerations"
	annotationSeccompPrefix  = "seccomp.security.alpha.kubernetes.io/"
	annotationSeccompContain = "container.seccomp.security.alpha.kubernetes.io/"
)

func validatePodMetadata(in input) field.ErrorList {
	if in.spec.PodMetadata == nil {
		return nil
	}
	path := in.path.Child("podMetadata")
	errs := tooMany(path.Child("labels"), len(in.spec.PodMetadata.Labels), 64)
	errs = append(errs, validateLabels(path.Child("labels"), in.spec.PodMetadata.Labels)...)
	for _, key := range sortedKeys(in.spec.PodMetadata.Labels) {
		if strings.HasPrefix(key, v1.ReservedPrefix) || key == labelPodTemplateHash {
			errs = append(errs, field.Forbidden(path.Child("labels").Key(truncate(key, maxValue)), "the label is reserved: selectors and ownership rest on it"))
		}
	}
	errs = append(errs, validateAnnotations(path.Child("annotations"), in.spec.PodMetadata.Annotations)...)
	for _, key := range sortedKeys(in.spec.PodMetadata.Annotations) {
		errs = append(errs, validatePodAnnotation(path.Child("annotations").Key(truncate(key, maxValue)), key, in.spec.PodMetadata.Annotations[key])...)
	}
	return errs
}

// validatePodAnnotation checks the annotations that Kubernetes reads.
func validatePodAnnotation(path *field.Path, key, value string) field.ErrorList {
	switch {
	case key == annotationMirror:
		return field.ErrorList{field.Forbidden(path, "only a kubelet makes mirror pods")}
	case key == annotationTolerations:
		return field.ErrorList{field.Forbidden(path, "use spec.tolerations")}
	case strings.HasPrefix(key, annotationSeccompPrefix), strings.HasPrefix(key, annotationSeccompContain):
		return field.ErrorList{field.Forbidden(path, "use seccompProfile in podSecurityContext or securityContext")}
	case strings.HasPrefix(key, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix):
		return field.ErrorList{field.Forbidden(path, "use appArmorProfile in podSecurityContext or securityContext")}
	case key == annotationDeletionCost:
		if number, err := strconv.ParseInt(value, 10, 32); err != nil || strconv.FormatInt(number, 10) != value {
			return field.ErrorList{field.Invalid(path, value, "must be a 32-bit integer")}
		}
	}
	return nil
}

// validateAnnotations checks the annotations of every child.
func validateAnnotations(path *field.Path, annotations map[string]string) field.ErrorList {
	errs := tooMany(path, len(annotations), 64)
	for _, key := range sortedKeys(annotations) {
		keyPath := path.Key(truncate(key, maxValue))
		// Kubernetes ignores the case of an annotation's key.
		errs = append(errs, invalid(keyPath, key, validation.IsQualifiedName(strings.ToLower(key)))...)
		if strings.HasPrefix(key, v1.ReservedPrefix) {
			errs = append(errs, field.Forbidden(keyPath, v1.ReservedPrefix+" is reserved for Fairlead"))
		}
	}
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		errs = append(errs, field.TooLong(path, "", apivalidation.TotalAnnotationSizeLimitB))
	}
	return errs
}

func validateLabels(path *field.Path, labels map[string]string) field.ErrorList {
	var errs field.ErrorList
	for _, key := range sortedKeys(labels) {
		keyPath := path.Key(truncate(key, maxValue))
		errs = append(errs, invalid(keyPath, key, validation.IsQualifiedName(key))...)
		errs = append(errs, invalid(keyPath, labels[key], validation.IsValidLabelValue(labels[key]))...)
	}
	return errs
}

func validateLabelSelector(path *field.Path, selector *metav1.LabelSelector) field.ErrorList {
	if selector == nil {
		return nil
	}
	errs := validateLabels(path.Child("matchLabels"), selector.MatchLabels)
	for i, requirement := range selector.MatchExpressions {
		path := path.Child("matchExpressions").Index(i)
		errs = append(errs, oneOf(path.Child("operator"), requirement.Operator, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn,
			metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist)...)
		errs = append(errs, metav1validation.ValidateLabelSelectorRequirement(requirement,
			metav1validation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}, path)...)
	}
	return errs
}
