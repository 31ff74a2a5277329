// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The volumes of the pod that do not come from spec.mounts. Init containers and sidecars may
// mount them by these names.
const (
	// ConfigVolumeName is the volume with the files of spec.config.
	ConfigVolumeName = "config"
	// TemporaryVolumeName is the emptyDir at TemporaryPath, unless the spec mounts something there.
	TemporaryVolumeName = "tmp"
	// TemporaryPath is writable in the application container, whatever else is read-only.
	TemporaryPath = "/tmp"
)

// VolumeName is the name of the pod's volume for the mount at that path, for an init container
// or a sidecar that mounts it too. It depends on the path alone, so that adding or removing
// another mount renames no volume and replaces no pod. It always ends in a hash and therefore
// never equals the names of the volumes that Fairlead adds itself. It is a DNS label.
func VolumeName(mountPath string) string {
	const maxReadable = 63 - 1 - 10
	var readable strings.Builder
	for _, r := range strings.ToLower(mountPath) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			readable.WriteRune(r)
		case readable.Len() > 0 && !strings.HasSuffix(readable.String(), "-"):
			readable.WriteByte('-')
		}
	}
	prefix := readable.String()
	prefix = strings.TrimRight(prefix[:min(len(prefix), maxReadable)], "-")
	if prefix == "" {
		prefix = "mount"
	}
	sum := sha256.Sum256([]byte(strconv.Itoa(len(mountPath)) + ":" + mountPath))
	return prefix + "-" + hex.EncodeToString(sum[:5])
}

// HasTemporaryVolume reports whether Fairlead adds the emptyDir at TemporaryPath: the spec mounts
// nothing else there.
func (s *ApplicationSpec) HasTemporaryVolume() bool {
	if s.Config != nil && path.Clean(s.Config.MountPath) == TemporaryPath {
		return false
	}
	return !slices.ContainsFunc(s.Mounts, func(mount Mount) bool { return path.Clean(mount.MountPath) == TemporaryPath })
}
