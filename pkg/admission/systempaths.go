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

// hidden returns a warning for each volume that hides files that the container has already, or takes its writable /tmp away.
func hidden(spec *v1.ApplicationSpec) []string {
	var warnings []string
	check := func(field, mountPath string, readOnly bool) {
		switch clean := path.Clean(mountPath); {
		case systemPaths[clean] || strings.HasPrefix(clean, "/sys/"):
			warnings = append(warnings, fmt.Sprintf("%s: a volume at %s hides everything that the container has there, and without it most programs do not run: use a directory of its own, such as /etc/web", field, mountPath))
		case getsToken(spec) && (clean == tokenPath || strings.HasPrefix(tokenPath, clean+"/")):
			warnings = append(warnings, fmt.Sprintf("%s: a volume at %s is in the way of the ServiceAccount's token, which belongs in %s: use another directory, or set serviceAccount.automountToken to false", field, mountPath, tokenPath))
		case readOnly && clean == v1.TemporaryPath:
			warnings = append(warnings, fmt.Sprintf("%s: a read-only volume at %s leaves the container no writable %s, where most programs keep temporary files: use another directory, such as /etc/web, or a writable volume", field, mountPath, clean))
		}
	}
	if spec.Config != nil {
		check("config.mountPath", spec.Config.MountPath, true)
	}
	// readOnlyVolumes are the names of the volumes that no container can write to, whatever its readOnly says.
	readOnlyVolumes := map[string]bool{v1.ConfigVolumeName: true}
	for i := range spec.Mounts {
		readOnly, given := onlyReadable(&spec.Mounts[i]), spec.Mounts[i].ReadOnly
		readOnlyVolumes[v1.VolumeName(spec.Mounts[i].MountPath)] = readOnly
		if spec.Mounts[i].Projected != nil && path.Clean(spec.Mounts[i].MountPath) == tokenPath {
			continue // A token of another audience, instead of the usual one.
		}
		check(fmt.Sprintf("mounts[%s].mountPath", spec.Mounts[i].MountPath), spec.Mounts[i].MountPath, readOnly || given != nil && *given)
	}
	for field, containers := range map[string][]corev1.Container{"initContainers": spec.InitContainers, "sidecars": spec.Sidecars} {
		for i := range containers {
			for _, mount := range containers[i].VolumeMounts {
				check(fmt.Sprintf("%s[%s].volumeMounts[%s].mountPath", field, containers[i].Name, mount.MountPath), mount.MountPath, mount.ReadOnly || readOnlyVolumes[mount.Name])
			}
		}
	}
	slices.Sort(warnings)
	return warnings
}

// onlyReadable reports whether the volume of a mount takes no writes. The kubelet mounts Secrets and ConfigMaps read-only, whatever
// readOnly says.
func onlyReadable(mount *v1.Mount) bool {
	claim := mount.PersistentVolumeClaim
	return mount.Secret != nil || mount.ConfigMap != nil || mount.Projected != nil || claim != nil && claim.ReadOnly
}

// getsToken reports whether the pods get a token.
func getsToken(spec *v1.ApplicationSpec) bool {
	account := spec.ServiceAccount
	return account != nil && account.AutomountToken != nil && *account.AutomountToken
}
