// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// systemPaths are directories that hold what nearly every program needs: programs, libraries, devices. A volume there
// hides them. Directories below, such as /usr/share/nginx/html, are for files of applications.
var systemPaths = map[string]bool{
	"/bin": true, "/dev": true, "/etc": true, "/lib": true, "/lib64": true, "/run": true, "/sbin": true, "/sys": true, "/usr": true,
	"/usr/bin": true, "/usr/lib": true, "/usr/lib64": true, "/usr/local": true, "/usr/local/bin": true, "/usr/local/lib": true,
	"/usr/sbin": true, "/usr/share": true, "/var": true, "/var/lib": true, "/var/run": true,
}

// tokenPath is where pods have the token of their ServiceAccount.
const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// hidden returns a warning for each volume that hides files that the container has already.
func hidden(spec *v1.ApplicationSpec) []string {
	var warnings []string
	check := func(field, mountPath string) {
		switch clean := path.Clean(mountPath); {
		case systemPaths[clean] || strings.HasPrefix(clean, "/sys/"):
			warnings = append(warnings, fmt.Sprintf("%s: a volume at %s hides everything that the container has there, and without it most programs do not run: use a directory of its own, such as /etc/web", field, mountPath))
		case getsToken(spec) && (clean == tokenPath || strings.HasPrefix(tokenPath, clean+"/")):
			warnings = append(warnings, fmt.Sprintf("%s: a volume at %s is in the way of the ServiceAccount's token, which belongs in %s: use another directory, or set serviceAccount.automountToken to false", field, mountPath, tokenPath))
		}
	}
	if spec.Config != nil {
		check("config.mountPath", spec.Config.MountPath)
	}
	for i := range spec.Mounts {
		if spec.Mounts[i].Projected != nil && path.Clean(spec.Mounts[i].MountPath) == tokenPath {
			continue // A token of another audience, instead of the usual one.
		}
		check(fmt.Sprintf("mounts[%s].mountPath", spec.Mounts[i].MountPath), spec.Mounts[i].MountPath)
	}
	for field, containers := range map[string][]corev1.Container{"initContainers": spec.InitContainers, "sidecars": spec.Sidecars} {
		for i := range containers {
			for _, mount := range containers[i].VolumeMounts {
				check(fmt.Sprintf("%s[%s].volumeMounts[%s].mountPath", field, containers[i].Name, mount.MountPath), mount.MountPath)
			}
		}
	}
	slices.Sort(warnings)
	return warnings
}

// getsToken reports whether the pods get a token.
func getsToken(spec *v1.ApplicationSpec) bool {
	account := spec.ServiceAccount
	return account != nil && account.AutomountToken != nil && *account.AutomountToken
}
