// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

// The defaults are those of the Pod Security Standard restricted, and a read-only root file system for the application.
// The spec overrides them field by field.

// podSecurityContext returns the security context of the pod, with defaults for what the spec omits.
func podSecurityContext(given *corev1.PodSecurityContext) (*corev1ac.PodSecurityContextApplyConfiguration, error) {
	security := corev1ac.PodSecurityContext()
	if given != nil {
		var err error
		if security, err = convert[corev1ac.PodSecurityContextApplyConfiguration](given); err != nil {
			return nil, err
		}
	}
	if security.RunAsNonRoot == nil {
		security.WithRunAsNonRoot(true)
	}
	if security.SeccompProfile == nil {
		security.WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))
	}
	return security, nil
}

// applicationSecurity returns the security context of the application container, with defaults for what the spec
// omits.
func applicationSecurity(given *corev1.SecurityContext) (*corev1ac.SecurityContextApplyConfiguration, error) {
	security := corev1ac.SecurityContext()
	if given != nil {
		var err error
		if security, err = convert[corev1ac.SecurityContextApplyConfiguration](given); err != nil {
			return nil, err
		}
	}
	restrict(security)
	if security.ReadOnlyRootFilesystem == nil {
		security.WithReadOnlyRootFilesystem(true)
	}
	return security, nil
}

// restrict sets what the standard requires of every container, where the spec omits it. The root file system stays
// writable: Fairlead cannot know whether a sidecar runs without writing.
func restrict(security *corev1ac.SecurityContextApplyConfiguration) {
	if security.AllowPrivilegeEscalation == nil && !escalates(security) {
		security.WithAllowPrivilegeEscalation(false)
	}
	if security.Capabilities == nil {
		security.WithCapabilities(corev1ac.Capabilities())
	}
	if len(security.Capabilities.Drop) == 0 {
		security.Capabilities.WithDrop("ALL")
	}
}

// escalates reports whether the container has a setting that the API server refuses together with
// allowPrivilegeEscalation false. A default must not make a spec invalid.
func escalates(security *corev1ac.SecurityContextApplyConfiguration) bool {
	if security.Privileged != nil && *security.Privileged {
		return true
	}
	return security.Capabilities != nil && slices.Contains(security.Capabilities.Add, "CAP_SYS_ADMIN")
}
