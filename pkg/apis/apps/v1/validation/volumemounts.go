// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// volumeNames returns the names of all volumes, in the order of the spec, and those of the emptyDirs.
func volumeNames(spec *v1.ApplicationSpec) (all, emptyDirs []string) {
	if spec.HasTemporaryVolume() {
		all, emptyDirs = append(all, v1.TemporaryVolumeName), append(emptyDirs, v1.TemporaryVolumeName)
	}
	if spec.Config != nil {
		all = append(all, v1.ConfigVolumeName)
	}
	for i := range spec.Mounts {
		name := v1.VolumeName(spec.Mounts[i].MountPath)
		all = append(all, name)
		if spec.Mounts[i].EmptyDir != nil {
			emptyDirs = append(emptyDirs, name)
		}
	}
	return all, emptyDirs
}

// validateVolumeMounts lets init containers and sidecars mount the Application's volumes. For a wrong name, the error
// lists the right ones.
func validateVolumeMounts(in input, container otherContainer) field.ErrorList {
	fldPath := container.path.Child("volumeMounts")
	var errs field.ErrorList
	mountPaths := names{}
	for i := range container.VolumeMounts {
		mount, fldPath := &container.VolumeMounts[i], fldPath.Index(i)
		for _, err := range oneOf(fldPath.Child("name"), mount.Name, in.volumes...) {
			err.Detail += ": to have another volume, add it to spec.mounts"
			errs = append(errs, err)
		}
		errs = append(errs, validateMountPath(fldPath.Child("mountPath"), mount.MountPath)...)
		errs = append(errs, mountPaths.add(fldPath.Child("mountPath"), path.Clean(mount.MountPath))...)
		if mount.SubPath != "" {
			errs = append(errs, validateRelativePath(fldPath.Child("subPath"), mount.SubPath)...)
		}
		if mount.SubPathExpr != "" {
			errs = append(errs, validateRelativePath(fldPath.Child("subPathExpr"), mount.SubPathExpr)...)
			if mount.SubPath != "" {
				errs = append(errs, field.Forbidden(fldPath.Child("subPathExpr"), "subPath and subPathExpr exclude each other: remove one of them"))
			}
		}
		errs = append(errs, validatePropagation(container, fldPath, mount)...)
		errs = append(errs, validateBindOptions(fldPath.Child("bindMountOptions"), mount.BindMountOptions)...)
	}
	return errs
}

func validatePropagation(container otherContainer, fldPath *field.Path, mount *corev1.VolumeMount) field.ErrorList {
	var errs field.ErrorList
	propagates := false
	if mode := mount.MountPropagation; mode != nil {
		propagates = *mode != corev1.MountPropagationNone
		errs = append(errs, oneOf(fldPath.Child("mountPropagation"), *mode,
			corev1.MountPropagationBidirectional, corev1.MountPropagationHostToContainer, corev1.MountPropagationNone)...)
		if *mode == corev1.MountPropagationBidirectional && (container.SecurityContext == nil || !isTrue(container.SecurityContext.Privileged)) {
			errs = append(errs, field.Forbidden(fldPath.Child("mountPropagation"), "Bidirectional needs a privileged container"))
		}
	}
	if mode := mount.RecursiveReadOnly; mode != nil {
		fldPath := fldPath.Child("recursiveReadOnly")
		errs = append(errs, oneOf(fldPath, *mode, corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)...)
		switch {
		case *mode == corev1.RecursiveReadOnlyDisabled:
		case !mount.ReadOnly:
			errs = append(errs, field.Forbidden(fldPath, "needs readOnly true"))
		case propagates:
			errs = append(errs, field.Forbidden(fldPath, "needs mountPropagation None"))
		}
	}
	return errs
}

func validateBindOptions(fldPath *field.Path, options []string) field.ErrorList {
	var errs field.ErrorList
	seen := names{}
	for i, option := range options {
		errs = append(errs, oneOf(fldPath.Index(i), option, "nodev", "noexec", "nosuid")...)
		errs = append(errs, seen.add(fldPath.Index(i), option)...)
	}
	return errs
}
