// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// part is a piece of the spec with a security context, in a pod that otherwise passes every check. So what a check finds
// is the fault of the part.
type part struct {
	// path is the path of the container; of the pod and the application container it is spec.
	path *field.Path
	// security is the path of its securityContext.
	security *field.Path
	pod      corev1.PodSpec
}

// validatePodSecurity refuses what the Pod Security level forbids, by the checks of the admission plugin. They check a
// whole pod and return a sentence, so a failed check is repeated for each part to find the field.
//
// The checks see the pod with the defaults: an omitted field has a restricted value.
func validatePodSecurity(in input) field.ErrorList {
	metadata := &metav1.ObjectMeta{}
	if in.spec.PodMetadata != nil {
		metadata.Annotations = in.spec.PodMetadata.Annotations
	}
	whole := wholePod(in)
	failed := map[policy.CheckID]policy.CheckResult{}
	checks := podSecurityChecks(in.level)
	for _, check := range checks {
		if result := newest(check)(metadata, &whole); !result.Allowed {
			failed[check.ID] = result
		}
	}
	if len(failed) == 0 {
		return nil
	}
	var errs field.ErrorList
	blamed := map[policy.CheckID]bool{}
	for _, part := range podParts(in) {
		for _, check := range checks {
			if _, ok := failed[check.ID]; !ok {
				continue
			}
			if result := newest(check)(metadata, &part.pod); !result.Allowed {
				blamed[check.ID] = true
				if check.ID == checkEscalation && impliesEscalation(part) {
					continue // Another check names the field that the user wrote.
				}
				errs = append(errs, forbiddenByPodSecurity(in.level, check.ID, part, result)...)
			}
		}
	}
	for _, check := range checks {
		// Only the combination of parts is forbidden.
		if result, ok := failed[check.ID]; ok && !blamed[check.ID] {
			errs = append(errs, field.Forbidden(in.path, podSecurityDetail(in.level, result)))
		}
	}
	return errs
}

// wholePod returns the parts of the pod that the checks read.
func wholePod(in input) corev1.PodSpec {
	pod := corev1.PodSpec{
		SecurityContext: podSecurityWithDefaults(in.spec.PodSecurityContext),
		Containers:      []corev1.Container{applicationContainer(in)},
		Volumes:         mountedVolumes(in.spec.Mounts),
	}
	for _, other := range initContainers(in) {
		pod.InitContainers = append(pod.InitContainers, withSecurityDefaults(other))
	}
	for _, other := range sidecars(in) {
		pod.Containers = append(pod.Containers, withSecurityDefaults(other))
	}
	return pod
}

// mountedVolumes returns the volumes of the mounts. No level forbids a source of today's mounts; a future one meets the
// checks, too. Another rule reports a mount without a source.
func mountedVolumes(mounts []v1.Mount) []corev1.Volume {
	volumes := make([]corev1.Volume, 0, len(mounts))
	for _, m := range mounts {
		source := corev1.VolumeSource{
			Secret: m.Secret, ConfigMap: m.ConfigMap, EmptyDir: m.EmptyDir,
			PersistentVolumeClaim: m.PersistentVolumeClaim, Projected: m.Projected,
		}
		if source != (corev1.VolumeSource{}) {
			volumes = append(volumes, corev1.Volume{Name: v1.VolumeName(m.MountPath), VolumeSource: source})
		}
	}
	return volumes
}

// podParts returns the pod, the application container and the other containers, each separately.
func podParts(in input) []part {
	alone := func(path *field.Path, container corev1.Container) part {
		return part{path, path.Child("securityContext"), corev1.PodSpec{
			SecurityContext: podSecurityWithDefaults(nil), Containers: []corev1.Container{container},
		}}
	}
	parts := []part{
		{in.path, in.path.Child("podSecurityContext"), corev1.PodSpec{
			SecurityContext: podSecurityWithDefaults(in.spec.PodSecurityContext),
			Containers:      []corev1.Container{{Name: in.app.Name, SecurityContext: securityWithDefaults(nil)}},
		}},
		alone(in.path, applicationContainer(in)),
	}
	for _, other := range otherContainers(in) {
		parts = append(parts, alone(other.path, withSecurityDefaults(other)))
	}
	return parts
}

func withSecurityDefaults(other otherContainer) corev1.Container {
	container := *other.Container
	container.SecurityContext = securityWithDefaults(container.SecurityContext)
	return container
}

// applicationContainer has what the checks read: the security context, and the hosts of probes.
func applicationContainer(in input) corev1.Container {
	return corev1.Container{
		Name:            in.app.Name,
		SecurityContext: securityWithDefaults(in.spec.SecurityContext),
		LivenessProbe:   coreProbe(in.spec.LivenessProbe),
		ReadinessProbe:  coreProbe(in.spec.ReadinessProbe),
		StartupProbe:    coreProbe(in.spec.StartupProbe),
		Lifecycle:       in.spec.Lifecycle,
	}
}

// podSecurityChecks returns the checks of a level.
func podSecurityChecks(level podsecurity.Level) []policy.Check {
	switch level {
	case podsecurity.LevelPrivileged:
		return nil
	case podsecurity.LevelBaseline:
		return baselineChecks()
	default:
		return restrictedChecks()
	}
}

var baselineChecks = sync.OnceValue(func() []policy.Check {
	return slices.DeleteFunc(policy.DefaultChecks(), func(check policy.Check) bool { return check.Level != podsecurity.LevelBaseline })
})

// restrictedChecks are all checks except those that a stricter one replaces.
var restrictedChecks = sync.OnceValue(func() []policy.Check {
	replaced := map[policy.CheckID]bool{}
	for _, check := range policy.DefaultChecks() {
		for _, id := range check.Versions[len(check.Versions)-1].OverrideCheckIDs {
			replaced[id] = true
		}
	}
	return slices.DeleteFunc(policy.DefaultChecks(), func(check policy.Check) bool { return replaced[check.ID] })
})

// newest returns the latest version of the check.
func newest(check policy.Check) policy.CheckPodFn {
	return check.Versions[len(check.Versions)-1].CheckPod
}

// securityFields are the paths of the security context's fields that each check reads.
var securityFields = map[policy.CheckID]string{
	"allowPrivilegeEscalation":  "allowPrivilegeEscalation",
	"appArmorProfile":           "appArmorProfile",
	"capabilities_baseline":     "capabilities",
	"capabilities_restricted":   "capabilities",
	"privileged":                "privileged",
	"procMount":                 "procMount",
	"procMount_restricted":      "procMount",
	"runAsNonRoot":              "runAsNonRoot",
	"runAsUser":                 "runAsUser",
	"seLinuxOptions":            "seLinuxOptions",
	"seccompProfile_baseline":   "seccompProfile",
	"seccompProfile_restricted": "seccompProfile",
	"sysctls":                   "sysctls",
	"windowsHostProcess":        "windowsOptions.hostProcess",
}

const (
	checkHostPorts  = "hostPorts"
	checkHosts      = "hostProbesAndHostLifecycle"
	checkEscalation = "allowPrivilegeEscalation"
)

// impliesEscalation reports whether a container may escalate its privileges without saying so: it is privileged, or adds
// CAP_SYS_ADMIN. On each level that forbids the one, another check forbids the other.
func impliesEscalation(part part) bool {
	security := part.pod.Containers[0].SecurityContext
	return security != nil && security.AllowPrivilegeEscalation == nil && (isTrue(security.Privileged) || addsSysAdmin(security))
}

// forbiddenByPodSecurity names the fields that the check forbids.
func forbiddenByPodSecurity(level podsecurity.Level, id policy.CheckID, part part, result policy.CheckResult) field.ErrorList {
	var paths []*field.Path
	switch name, known := securityFields[id]; {
	case known:
		names := strings.Split(name, ".")
		paths = append(paths, part.security.Child(names[0], names[1:]...))
	case id == checkHostPorts:
		paths = append(paths, part.path.Child("ports"))
	case id == checkHosts:
		paths = hostPaths(part.path, part.pod.Containers[0])
	}
	if len(paths) == 0 {
		paths = append(paths, part.path)
	}
	var errs field.ErrorList
	for _, path := range paths {
		errs = append(errs, field.Forbidden(path, podSecurityDetail(level, result)))
	}
	return errs
}

func podSecurityDetail(level podsecurity.Level, result policy.CheckResult) string {
	detail := fmt.Sprintf("Pod Security level %s: %s", level, result.ForbiddenReason)
	if result.ForbiddenDetail != "" {
		detail += ": " + result.ForbiddenDetail
	}
	return detail
}

// hostPaths are the fields that make a kubelet connect to another host than the pod.
func hostPaths(path *field.Path, container corev1.Container) []*field.Path {
	var paths []*field.Path
	add := func(path *field.Path, http *corev1.HTTPGetAction, tcp *corev1.TCPSocketAction) {
		if http != nil && http.Host != "" {
			paths = append(paths, path.Child("httpGet", "host"))
		}
		if tcp != nil && tcp.Host != "" {
			paths = append(paths, path.Child("tcpSocket", "host"))
		}
	}
	for _, probe := range []struct {
		kind  probeKind
		probe *corev1.Probe
	}{{liveness, container.LivenessProbe}, {readiness, container.ReadinessProbe}, {startup, container.StartupProbe}} {
		if probe.probe != nil {
			add(path.Child(string(probe.kind)), probe.probe.HTTPGet, probe.probe.TCPSocket)
		}
	}
	if lifecycle := container.Lifecycle; lifecycle != nil {
		if handler := lifecycle.PostStart; handler != nil {
			add(path.Child("lifecycle", "postStart"), handler.HTTPGet, handler.TCPSocket)
		}
		if handler := lifecycle.PreStop; handler != nil {
			add(path.Child("lifecycle", "preStop"), handler.HTTPGet, handler.TCPSocket)
		}
	}
	return paths
}
