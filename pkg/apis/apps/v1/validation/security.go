// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podsecurity "k8s.io/pod-security-admission/api"
)

// validateSecurityContexts checks the form of all security contexts, and what could never run, whatever the platform
// allows. validatePodSecurity checks what the platform allows.
func validateSecurityContexts(in input) field.ErrorList {
	errs := validatePodSecurityContext(in, in.path.Child("podSecurityContext"), in.spec.PodSecurityContext)
	errs = append(errs, validateSecurityContext(in, in.path.Child("securityContext"), in.spec.SecurityContext)...)
	for _, container := range otherContainers(in) {
		errs = append(errs, validateSecurityContext(in, container.path.Child("securityContext"), container.SecurityContext)...)
	}
	return errs
}

func validatePodSecurityContext(in input, path *field.Path, security *corev1.PodSecurityContext) field.ErrorList {
	if security == nil {
		return nil
	}
	errs := validateUser(path.Child("runAsUser"), security.RunAsUser)
	errs = append(errs, validateGroup(path.Child("runAsGroup"), security.RunAsGroup)...)
	errs = append(errs, validateGroup(path.Child("fsGroup"), security.FSGroup)...)
	for i := range security.SupplementalGroups {
		errs = append(errs, validateGroup(path.Child("supplementalGroups").Index(i), &security.SupplementalGroups[i])...)
	}
	if security.FSGroupChangePolicy != nil {
		errs = append(errs, oneOf(path.Child("fsGroupChangePolicy"), *security.FSGroupChangePolicy, corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch)...)
	}
	if security.SupplementalGroupsPolicy != nil {
		errs = append(errs, oneOf(path.Child("supplementalGroupsPolicy"), *security.SupplementalGroupsPolicy, corev1.SupplementalGroupsPolicyMerge, corev1.SupplementalGroupsPolicyStrict)...)
	}
	if security.SELinuxChangePolicy != nil {
		errs = append(errs, oneOf(path.Child("seLinuxChangePolicy"), *security.SELinuxChangePolicy, corev1.SELinuxChangePolicyMountOption, corev1.SELinuxChangePolicyRecursive)...)
	}
	errs = append(errs, validateSysctls(path.Child("sysctls"), security.Sysctls)...)
	errs = append(errs, validateSeccomp(path.Child("seccompProfile"), security.SeccompProfile)...)
	errs = append(errs, validateAppArmor(path.Child("appArmorProfile"), security.AppArmorProfile)...)
	return append(errs, validateWindows(in, path.Child("windowsOptions"), security.WindowsOptions)...)
}

func validateSecurityContext(in input, path *field.Path, given *corev1.SecurityContext) field.ErrorList {
	var errs field.ErrorList
	if given != nil {
		errs = append(errs, validateUser(path.Child("runAsUser"), given.RunAsUser)...)
		errs = append(errs, validateGroup(path.Child("runAsGroup"), given.RunAsGroup)...)
		errs = append(errs, validateSeccomp(path.Child("seccompProfile"), given.SeccompProfile)...)
		errs = append(errs, validateAppArmor(path.Child("appArmorProfile"), given.AppArmorProfile)...)
		errs = append(errs, validateWindows(in, path.Child("windowsOptions"), given.WindowsOptions)...)
		errs = append(errs, validateProcMount(in, path.Child("procMount"), given.ProcMount)...)
		if escalation := given.AllowPrivilegeEscalation; escalation != nil && !*escalation {
			switch {
			case isTrue(given.Privileged):
				errs = append(errs, field.Invalid(path.Child("allowPrivilegeEscalation"), false, "must not be false while privileged is true"))
			case addsSysAdmin(given):
				errs = append(errs, field.Invalid(path.Child("allowPrivilegeEscalation"), false, "must not be false while CAP_SYS_ADMIN is added"))
			}
		}
	}
	return append(errs, validateRootUser(in, path, given)...)
}

// validateRootUser refuses the user root with runAsNonRoot, which defaults to true: the kubelet starts no such
// container. On level restricted, Pod Security reports it.
func validateRootUser(in input, path *field.Path, given *corev1.SecurityContext) field.ErrorList {
	if in.restricted() {
		return nil
	}
	pod := podSecurityWithDefaults(in.spec.PodSecurityContext)
	nonRoot, user := pod.RunAsNonRoot, pod.RunAsUser
	if given != nil && given.RunAsNonRoot != nil {
		nonRoot = given.RunAsNonRoot
	}
	if given != nil && given.RunAsUser != nil {
		user = given.RunAsUser
	}
	if !isTrue(nonRoot) || user == nil || *user != 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("runAsUser"), *user, "needs runAsNonRoot false, whose default here is true")}
}

func validateGroup(path *field.Path, group *int64) field.ErrorList {
	if group == nil {
		return nil
	}
	return invalid(path, *group, validation.IsValidGroupID(*group))
}

func validateSeccomp(path *field.Path, profile *corev1.SeccompProfile) field.ErrorList {
	if profile == nil {
		return nil
	}
	errs := oneOf(path.Child("type"), profile.Type, corev1.SeccompProfileTypeLocalhost, corev1.SeccompProfileTypeRuntimeDefault, corev1.SeccompProfileTypeUnconfined)
	local := profile.Type == corev1.SeccompProfileTypeLocalhost
	path = path.Child("localhostProfile")
	switch file := profile.LocalhostProfile; {
	case local && file == nil:
		errs = append(errs, field.Required(path, "must be set with type Localhost"))
	case local:
		errs = append(errs, validateRelativePath(path, *file)...)
	case file != nil:
		errs = append(errs, field.Invalid(path, *file, "needs type Localhost"))
	}
	return errs
}

// maxProfileName is the longest path in Linux.
const maxProfileName = 4095

func validateAppArmor(path *field.Path, profile *corev1.AppArmorProfile) field.ErrorList {
	if profile == nil {
		return nil
	}
	errs := oneOf(path.Child("type"), profile.Type, corev1.AppArmorProfileTypeLocalhost, corev1.AppArmorProfileTypeRuntimeDefault, corev1.AppArmorProfileTypeUnconfined)
	local := profile.Type == corev1.AppArmorProfileTypeLocalhost
	path = path.Child("localhostProfile")
	switch name := profile.LocalhostProfile; {
	case local && (name == nil || *name == ""):
		errs = append(errs, field.Required(path, "must be set with type Localhost"))
	case local && strings.TrimSpace(*name) != *name:
		errs = append(errs, field.Invalid(path, *name, "must not begin or end with white space"))
	case local && len(*name) > maxProfileName:
		errs = append(errs, field.TooLong(path, "", maxProfileName))
	case !local && name != nil:
		errs = append(errs, field.Invalid(path, *name, "needs type Localhost"))
	}
	return errs
}

// validateProcMount refuses an unmasked /proc, which needs a user namespace that an Application does not have. Below
// level privileged, Pod Security reports it.
func validateProcMount(in input, path *field.Path, mount *corev1.ProcMountType) field.ErrorList {
	if mount == nil {
		return nil
	}
	if *mount == corev1.UnmaskedProcMount && in.level == podsecurity.LevelPrivileged {
		return field.ErrorList{field.Invalid(path, *mount, "needs a user namespace, which an Application does not have")}
	}
	return oneOf(path, *mount, corev1.DefaultProcMount, corev1.UnmaskedProcMount)
}

// sysctlName is the syntax of sysctls, with dots or slashes.
var sysctlName = regexp.MustCompile(`^(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$`)

func validateSysctls(path *field.Path, sysctls []corev1.Sysctl) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i, sysctl := range sysctls {
		path := path.Index(i).Child("name")
		switch {
		case sysctl.Name == "":
			errs = append(errs, field.Required(path, "must be the name of a sysctl"))
		case len(sysctl.Name) > validation.DNS1123SubdomainMaxLength || !sysctlName.MatchString(sysctl.Name):
			errs = append(errs, field.Invalid(path, sysctl.Name, "must be lower-case words, separated by '.' or '/', of no more than 253 characters together"))
		default:
			errs = append(errs, seen.add(path, sysctl.Name)...)
		}
	}
	return errs
}

// Limits of Windows options.
const (
	maxCredentialSpec = 64 << 10
	maxUserDomain     = 255
	maxUserName       = 104
)

// validateWindows checks what the API server refuses. A host process needs the host's network, which an Application
// cannot have; below level privileged, Pod Security reports it.
func validateWindows(in input, path *field.Path, options *corev1.WindowsSecurityContextOptions) field.ErrorList {
	if options == nil {
		return nil
	}
	var errs field.ErrorList
	if name := options.GMSACredentialSpecName; name != nil {
		errs = append(errs, subdomain(path.Child("gmsaCredentialSpecName"), *name)...)
	}
	if spec := options.GMSACredentialSpec; spec != nil && (*spec == "" || len(*spec) > maxCredentialSpec) {
		errs = append(errs, field.Invalid(path.Child("gmsaCredentialSpec"), *spec, "must be 1 to 65536 bytes"))
	}
	if isTrue(options.HostProcess) && in.level == podsecurity.LevelPrivileged {
		errs = append(errs, field.Invalid(path.Child("hostProcess"), true, "needs the host's network, which an Application cannot have"))
	}
	if name := options.RunAsUserName; name != nil {
		domain, user, hasDomain := strings.Cut(*name, `\`)
		if !hasDomain {
			domain, user = "", *name
		}
		if user == "" || hasDomain && domain == "" || len(domain) > maxUserDomain || len(user) > maxUserName || hasControl(*name) ||
			strings.Trim(user, ". ") == "" || strings.ContainsAny(user, `"/\:;|=,+*?<>@[]`) {
			errs = append(errs, field.Invalid(path.Child("runAsUserName"), *name,
				fmt.Sprintf(`must be USER or DOMAIN\USER, of no more than %d and %d characters, without control characters and any of "/\:;|=,+*?<>@[]`, maxUserName, maxUserDomain)))
		}
	}
	return errs
}
