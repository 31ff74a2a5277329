// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	podsecurity "k8s.io/pod-security-admission/api"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// The functions of this file set the defaults of pkg/render, because the checks are about the pods with defaults; see
// security.go there. They never change their arguments.

// capSysAdmin is the only capability that cannot be added without privilege escalation.
const capSysAdmin corev1.Capability = "CAP_SYS_ADMIN"

func podSecurityWithDefaults(given *corev1.PodSecurityContext) *corev1.PodSecurityContext {
	security := corev1.PodSecurityContext{}
	if given != nil {
		security = *given
	}
	if security.RunAsNonRoot == nil {
		security.RunAsNonRoot = new(true)
	}
	if security.SeccompProfile == nil {
		security.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	return &security
}

func securityWithDefaults(given *corev1.SecurityContext) *corev1.SecurityContext {
	security := corev1.SecurityContext{}
	if given != nil {
		security = *given
	}
	if security.AllowPrivilegeEscalation == nil && !isTrue(security.Privileged) && !addsSysAdmin(&security) {
		security.AllowPrivilegeEscalation = new(false)
	}
	capabilities := corev1.Capabilities{}
	if security.Capabilities != nil {
		capabilities = *security.Capabilities
	}
	if len(capabilities.Drop) == 0 {
		capabilities.Drop = []corev1.Capability{"ALL"}
	}
	security.Capabilities = &capabilities
	return &security
}

func addsSysAdmin(security *corev1.SecurityContext) bool {
	return security.Capabilities != nil && slices.Contains(security.Capabilities.Add, capSysAdmin)
}

func isTrue(value *bool) bool { return value != nil && *value }

// coreProbe has only what Pod Security checks: the hosts.
func coreProbe(probe *v1.Probe) *corev1.Probe {
	if probe == nil {
		return nil
	}
	converted := &corev1.Probe{}
	if probe.HTTPGet != nil {
		converted.HTTPGet = &corev1.HTTPGetAction{Host: probe.HTTPGet.Host}
	}
	if probe.TCPSocket != nil {
		converted.TCPSocket = &corev1.TCPSocketAction{Host: probe.TCPSocket.Host}
	}
	return converted
}

// restricted reports whether Pod Security itself refuses the user root, and everything that depends on it.
func (in input) restricted() bool { return in.level == podsecurity.LevelRestricted }
