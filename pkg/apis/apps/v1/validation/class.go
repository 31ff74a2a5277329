// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// ValidateApplicationClass returns the errors of a class that do not depend on an Application: a default that no
// Application could have, a limit that none could meet. An empty list means valid.
func ValidateApplicationClass(class *v1.ApplicationClass) field.ErrorList {
	if class == nil {
		return field.ErrorList{field.Required(field.NewPath("spec"), "there is no ApplicationClass")}
	}
	path := field.NewPath("spec")
	errs := validateLabelSelector(path.Child("namespaceSelector"), class.Spec.NamespaceSelector)
	if class.Spec.Defaults != nil {
		errs = append(errs, validateDefaults(path.Child("defaults"), class.Spec.Defaults)...)
	}
	if class.Spec.Limits != nil {
		errs = append(errs, validateLimits(path.Child("limits"), class.Spec.Limits)...)
	}
	if class.Spec.Defaults != nil && class.Spec.Limits != nil {
		errs = append(errs, validateDefaultLimits(path.Child("defaults", "resources", "limits"), class.Spec)...)
	}
	return bounded(errs)
}

// validateDefaults applies the rules for Applications to one that has only the defaults.
func validateDefaults(path *field.Path, defaults *v1.ApplicationDefaults) field.ErrorList {
	in := input{app: &v1.Application{}, path: path}
	in.app.Name = "any"
	in.spec = &in.app.Spec
	in.spec.Resources = defaults.Resources
	in.spec.Strategy = defaults.Strategy
	in.spec.ProgressDeadlineSeconds = defaults.ProgressDeadlineSeconds
	if defaults.Rollback != nil {
		in.spec.Rollback = &v1.Rollback{Policy: defaults.Rollback.Policy}
	}
	in.spec.TopologySpreadConstraints = defaults.TopologySpreadConstraints
	in.spec.NodeSelector = defaults.NodeSelector
	in.spec.Tolerations = defaults.Tolerations
	in.spec.PriorityClassName = defaults.PriorityClassName
	in.spec.ImagePullSecrets = defaults.ImagePullSecrets
	in.spec.PodMetadata = defaults.PodMetadata
	in.spec.NetworkPolicy = defaults.NetworkPolicy
	in.spec.TerminationGracePeriodSeconds = defaults.TerminationGracePeriodSeconds
	in.spec.Ports = portsOf(defaults.NetworkPolicy)
	var errs field.ErrorList
	for _, rule := range []rule{
		validateApplicationResources,
		validateStrategy,
		validateScheduling,
		validateImagePullSecrets,
		validatePodMetadata,
		validateNetworkPolicy,
		validatePolicies,
	} {
		errs = append(errs, rule(in)...)
	}
	errs = append(errs, validatePortsOf(path.Child("networkPolicy", "ingress"), defaults.NetworkPolicy)...)
	errs = append(errs, validateMonitoringDefaults(path.Child("monitoring"), defaults.Monitoring)...)
	return append(errs, validateRouteDefaults(path.Child("routes"), defaults.Routes)...)
}

// validateDefaultLimits refuses limits of resources for which every Application with the defaults would be refused.
func validateDefaultLimits(path *field.Path, spec v1.ApplicationClassSpec) field.ErrorList {
	if spec.Defaults.Resources == nil || !isTrue(spec.Limits.RequireResourceLimits) {
		return nil
	}
	var errs field.ErrorList
	for _, name := range LimitedResources() {
		if limit, limited := spec.Defaults.Resources.Limits[name]; limited && limit.Sign() == 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), limit.String(), "is unlimited, and requireResourceLimits asks for a limit"))
		}
	}
	return errs
}

// portsOf returns ports with all the names that a network policy mentions, because a class cannot know the ports of its
// Applications.
func portsOf(policy *v1.NetworkPolicy) []v1.ApplicationPort {
	if policy == nil {
		return nil
	}
	var ports []v1.ApplicationPort
	for _, rule := range policy.Ingress {
		for _, name := range rule.Ports {
			ports = append(ports, v1.ApplicationPort{Name: name})
		}
	}
	return ports
}

// validatePortsOf refuses names that no port of an Application can have, such as numbers: the rule would silently be left out.
func validatePortsOf(path *field.Path, policy *v1.NetworkPolicy) field.ErrorList {
	if policy == nil {
		return nil
	}
	var errs field.ErrorList
	for i, rule := range policy.Ingress {
		for j, name := range rule.Ports {
			errs = append(errs, validatePortName(path.Index(i).Child("ports").Index(j), name)...)
		}
	}
	return errs
}

func validateRouteDefaults(path *field.Path, routes *v1.RouteDefaults) field.ErrorList {
	if routes == nil {
		return nil
	}
	errs := enum(path.Child("type"), routes.Type, v1.RouteAuto, v1.RouteIngress, v1.RouteHTTPRoute)
	errs = append(errs, validateParentRefs(path.Child("parentRefs"), routes.ParentRefs)...)
	if routes.IngressClassName != nil {
		errs = append(errs, subdomain(path.Child("ingressClassName"), *routes.IngressClassName)...)
	}
	if routes.TLS != nil && routes.TLS.SecretName != "" {
		errs = append(errs, subdomain(path.Child("tls", "secretName"), routes.TLS.SecretName)...)
	}
	errs = append(errs, validateAnnotations(path.Child("annotations"), routes.Annotations)...)
	if class, found := routes.Annotations[networkingv1beta1.AnnotationIngressClass]; found {
		errs = append(errs, field.Invalid(path.Child("annotations").Key(networkingv1beta1.AnnotationIngressClass), class, "use ingressClassName"))
	}
	return errs
}

// validateLimits finds entries that allow nothing, which are most likely mistakes.
func validateLimits(path *field.Path, limits *v1.ApplicationLimits) field.ErrorList {
	errs := enum(path.Child("securityProfile"), limits.SecurityProfile,
		v1.SecurityProfileRestricted, v1.SecurityProfileBaseline, v1.SecurityProfilePrivileged)
	for i, registry := range limits.AllowedRegistries {
		path := path.Child("allowedRegistries").Index(i)
		if !imageDomain.MatchString(strings.SplitN(registry, "/", 2)[0]) || registry != strings.ToLower(registry) || strings.HasSuffix(registry, "/") {
			errs = append(errs, field.Invalid(path, registry, "must be a registry, or a part of one, in lower case: e.g. ghcr.io or ghcr.io/acme"))
		}
	}
	for i, hostname := range limits.AllowedHostnames {
		errs = append(errs, validateHostname(path.Child("allowedHostnames").Index(i), hostname)...)
	}
	for i, hostname := range limits.SharedHostnames {
		errs = append(errs, validateHostname(path.Child("sharedHostnames").Index(i), hostname)...)
	}
	for i, annotation := range limits.AllowedAnnotations {
		if strings.Contains(strings.TrimSuffix(annotation, "*"), "*") || annotation == "" {
			errs = append(errs, field.Invalid(path.Child("allowedAnnotations").Index(i), annotation, "must be an annotation, or the beginning of some with one * at its end"))
		}
	}
	types := []corev1.ServiceType{corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer}
	for i, kind := range limits.AllowedServiceTypes {
		if !slices.Contains(types, kind) {
			errs = append(errs, field.NotSupported(path.Child("allowedServiceTypes").Index(i), kind, types))
		}
	}
	return append(errs, between(path.Child("maxReplicas"), limits.MaxReplicas, 0, maxReplicas)...)
}
