// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podsecurity "k8s.io/pod-security-admission/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// originClassLimit marks errors about values that are valid, but exceed what the class allows.
const originClassLimit = "classLimit"

// OnlyExceedsClass reports whether all errors are about limits of the class. Then another class, or a changed one, would
// allow the spec.
func OnlyExceedsClass(errs field.ErrorList) bool {
	return len(errs) > 0 && errs[0].Origin == originClassLimit // They come last.
}

// limits returns the limits of the Application's class, or nil.
func (in input) limits() *v1.ApplicationLimits {
	if in.class == nil {
		return nil
	}
	return in.class.Spec.Limits
}

// allows begins the message of a limit: ApplicationClass "standard" allows.
func (in input) allows() string { return fmt.Sprintf("ApplicationClass %q allows", in.class.Name) }

// levelOf returns the Pod Security level of a class, or the other one if the class has none.
func levelOf(class *v1.ApplicationClass, other podsecurity.Level) podsecurity.Level {
	if class != nil && class.Spec.Limits != nil {
		switch class.Spec.Limits.SecurityProfile {
		case v1.SecurityProfileRestricted:
			return podsecurity.LevelRestricted
		case v1.SecurityProfileBaseline:
			return podsecurity.LevelBaseline
		case v1.SecurityProfilePrivileged:
			return podsecurity.LevelPrivileged
		}
	}
	return other
}

// validateSecurityProfile calls validatePodSecurity, and names the class that sets the level.
func validateSecurityProfile(in input) field.ErrorList {
	errs := validatePodSecurity(in)
	if limits := in.limits(); limits == nil || limits.SecurityProfile == "" {
		return errs
	}
	for _, err := range errs {
		err.Detail = fmt.Sprintf("ApplicationClass %q has the security profile %s: %s", in.class.Name, in.limits().SecurityProfile, err.Detail)
	}
	return errs.WithOrigin(originClassLimit)
}

// validateClassLimits applies the limits of the class except the security profile.
func validateClassLimits(in input) field.ErrorList {
	if in.limits() == nil {
		return nil
	}
	var errs field.ErrorList
	for _, rule := range []rule{
		limitRegistries,
		limitReplicas,
		limitResources,
		limitServiceType,
		limitHostnames,
		limitSharedHostnames,
		limitAnnotations,
		limitServiceAccount,
	} {
		errs = append(errs, rule(in)...)
	}
	return errs.WithOrigin(originClassLimit)
}

func limitRegistries(in input) field.ErrorList {
	allowed := in.limits().AllowedRegistries
	if allowed == nil {
		return nil
	}
	var errs field.ErrorList
	message := in.allows() + " images of " + some(allowed)
	if len(allowed) == 0 {
		message = in.allows() + " no images, because its allowedRegistries is empty"
	}
	check := func(path *field.Path, image string) {
		repository := repositoryOf(image)
		if slices.ContainsFunc(allowed, func(registry string) bool { return isBelow(repository, registry) }) {
			return
		}
		detail := message
		if len(allowed) > 0 && isBelow(repository, defaultRegistry) && !strings.Contains(image, defaultRegistry) {
			detail += "; without a registry, it is " + repository
		}
		errs = append(errs, field.Invalid(path, image, detail))
	}
	check(in.path.Child("image"), in.spec.Image)
	for _, container := range otherContainers(in) {
		check(container.path.Child("image"), container.Image)
	}
	return errs
}

// defaultRegistry is the one that container runtimes take for an image without one.
const defaultRegistry = "docker.io"

// repositoryOf returns the full name of an image's repository, without tag and digest.
func repositoryOf(image string) string {
	const hub = defaultRegistry
	name, _, _ := strings.Cut(image, "@")
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		name = name[:colon]
	}
	registry, path, found := strings.Cut(name, "/")
	if !found || !strings.ContainsAny(registry, ".:[") && registry != "localhost" && registry == strings.ToLower(registry) {
		registry, path = hub, name
	}
	registry = strings.ToLower(registry)
	if registry == "index."+hub {
		registry = hub
	}
	if registry == hub && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	return registry + "/" + path
}

// isBelow compares by path element: ghcr.io/acme does not contain ghcr.io/acme-evil/web.
func isBelow(repository, registry string) bool {
	return repository == registry || strings.HasPrefix(repository, registry+"/")
}

// startsOne explains a number of replicas that the spec does not have.
const startsOne = "; without replicas, a Deployment starts with 1: set replicas to 0"

func limitReplicas(in input) field.ErrorList {
	most := in.limits().MaxReplicas
	if most == nil {
		return nil
	}
	var errs field.ErrorList
	check := func(path *field.Path, replicas int32, explanation string) {
		if replicas > *most {
			limit := fmt.Sprintf("at most %d", *most)
			if *most == 0 {
				limit = "no pods"
			}
			errs = append(errs, field.Invalid(path, replicas, fmt.Sprintf("%s %s%s", in.allows(), limit, explanation)))
		}
	}
	if in.spec.Replicas != nil {
		check(in.path.Child("replicas"), *in.spec.Replicas, "")
	}
	if in.spec.Autoscaling != nil {
		check(in.path.Child("autoscaling", "maxReplicas"), in.spec.Autoscaling.MaxReplicas, "")
	}
	if in.spec.Replicas == nil && in.spec.Autoscaling == nil {
		check(in.path.Child("replicas"), 1, startsOne)
	}
	return errs
}

// limitResources limits resources. Kubernetes treats a limit of zero as no limit.
func limitResources(in input) field.ErrorList {
	if !isTrue(in.limits().RequireResourceLimits) {
		return nil
	}
	requires := fmt.Sprintf("ApplicationClass %q requires limits for cpu and memory of each container", in.class.Name)
	own := corev1.ResourceRequirements{}
	if in.spec.Resources != nil {
		own = *in.spec.Resources
	}
	errs := requireLimits(in.path, own.Limits, requires, func(name corev1.ResourceName) string { return droppedLimit(in, own, name) })
	for _, container := range otherContainers(in) {
		errs = append(errs, requireLimits(container.path, container.Resources.Limits, requires, func(corev1.ResourceName) string { return "" })...)
	}
	return errs
}

// droppedLimit says why a default of the class is missing: it is less than what the Application requests. "" if there is none. Pods of a
// former revision do not get the defaults of today at all.
func droppedLimit(in input, own corev1.ResourceRequirements, name corev1.ResourceName) string {
	defaults := in.class.Spec.Defaults
	if defaults == nil || defaults.Resources == nil {
		return ""
	}
	limit, hasDefault := defaults.Resources.Limits[name]
	request, requested := own.Requests[name]
	if in.formerPods || !hasDefault || !requested || request.Cmp(limit) <= 0 {
		return ""
	}
	return fmt.Sprintf("; its default of %s is not taken, because your request %s is higher: set a limit", limit.String(), request.String())
}

// LimitedResources are those for which requireResourceLimits asks for a limit.
func LimitedResources() []corev1.ResourceName {
	return []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
}

// requireLimits wants a limit for each resource. dropped says why one that the class has by default is missing.
func requireLimits(path *field.Path, limits corev1.ResourceList, requires string, dropped func(corev1.ResourceName) string) field.ErrorList {
	var errs field.ErrorList
	for _, name := range LimitedResources() {
		path := path.Child("resources", "limits").Key(string(name))
		limit, limited := limits[name]
		switch {
		case !limited:
			errs = append(errs, field.Required(path, requires+dropped(name)))
		case limit.Sign() <= 0:
			errs = append(errs, field.Invalid(path, limit.String(), requires+"; 0 means unlimited"))
		}
	}
	return errs
}

// limitServiceType limits the type of the Service. ClusterIP is always allowed, because without it there would be no
// Service.
func limitServiceType(in input) field.ErrorList {
	allowed := in.limits().AllowedServiceTypes
	if allowed == nil || in.spec.Service == nil || in.spec.Service.Type == "" || in.spec.Service.Type == corev1.ServiceTypeClusterIP ||
		slices.Contains(allowed, in.spec.Service.Type) {
		return nil
	}
	types := []string{string(corev1.ServiceTypeClusterIP)}
	for _, kind := range allowed {
		if kind != corev1.ServiceTypeClusterIP {
			types = append(types, string(kind))
		}
	}
	return field.ErrorList{field.Invalid(in.path.Child("service", "type"), in.spec.Service.Type, in.allows()+" "+some(types))}
}

// limitServiceAccount limits the ServiceAccount, because a user who may name one has its permissions.
func limitServiceAccount(in input) field.ErrorList {
	account := in.spec.ServiceAccount
	if account == nil || account.Name == "" || isTrue(in.limits().AllowForeignServiceAccounts) {
		return nil
	}
	return field.ErrorList{field.Invalid(in.path.Child("serviceAccount", "name"), account.Name,
		in.allows()+" no ServiceAccount but the Application's own: remove name")}
}

// some lists what is allowed, or the beginning of a long list.
func some(allowed []string) string {
	const most = 8
	switch {
	case len(allowed) == 0:
		return "none"
	case len(allowed) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(allowed[:most], ", "), len(allowed)-most)
	default:
		return strings.Join(allowed, ", ")
	}
}
