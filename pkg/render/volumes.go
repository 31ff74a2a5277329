// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// volumes renders the volumes of the pod. volumeMounts renders where the application mounts them.
func volumes(app *v1.Application) ([]*corev1ac.VolumeApplyConfiguration, error) {
	var volumes []*corev1ac.VolumeApplyConfiguration
	// The root file system is read-only, and nearly every application writes to /tmp.
	if app.Spec.HasTemporaryVolume() {
		volumes = append(volumes, corev1ac.Volume().
			WithName(v1.TemporaryVolumeName).
			WithEmptyDir(corev1ac.EmptyDirVolumeSource()))
	}
	if app.Spec.Config != nil {
		volumes = append(volumes, corev1ac.Volume().
			WithName(v1.ConfigVolumeName).
			WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(ConfigMapName(app))))
	}
	for _, mount := range sortedMounts(app) {
		volume, err := volume(mount)
		if err != nil {
			return nil, err
		}
		volumes = append(volumes, volume)
	}
	return volumes, nil
}

func volumeMounts(app *v1.Application) []*corev1ac.VolumeMountApplyConfiguration {
	var mounts []*corev1ac.VolumeMountApplyConfiguration
	if app.Spec.HasTemporaryVolume() {
		mounts = append(mounts, corev1ac.VolumeMount().
			WithName(v1.TemporaryVolumeName).
			WithMountPath(v1.TemporaryPath))
	}
	if config := app.Spec.Config; config != nil {
		mounts = append(mounts, corev1ac.VolumeMount().
			WithName(v1.ConfigVolumeName).
			WithMountPath(config.MountPath).
			WithReadOnly(true))
	}
	for _, mount := range sortedMounts(app) {
		volumeMount := corev1ac.VolumeMount().
			WithName(v1.VolumeName(mount.MountPath)).
			WithMountPath(mount.MountPath)
		if mount.SubPath != "" {
			volumeMount.WithSubPath(mount.SubPath)
		}
		if readOnly(mount) {
			volumeMount.WithReadOnly(true)
		}
		mounts = append(mounts, volumeMount)
	}
	return mounts
}

// sortedMounts returns the mounts sorted by path. Their order in the spec has no meaning, so another order should not
// replace the pods.
func sortedMounts(app *v1.Application) []v1.Mount {
	return slices.SortedStableFunc(slices.Values(app.Spec.Mounts), func(a, b v1.Mount) int {
		return cmp.Compare(a.MountPath, b.MountPath)
	})
}

// readOnly reports whether a mount is read-only. By default, volumes with content from Kubernetes are, and others are
// not.
func readOnly(mount v1.Mount) bool {
	if mount.ReadOnly != nil {
		return *mount.ReadOnly
	}
	return mount.Secret != nil || mount.ConfigMap != nil || mount.Projected != nil
}

func volume(mount v1.Mount) (*corev1ac.VolumeApplyConfiguration, error) {
	volume := corev1ac.Volume().WithName(v1.VolumeName(mount.MountPath))
	var err error
	switch {
	case mount.Secret != nil:
		volume.Secret, err = convert[corev1ac.SecretVolumeSourceApplyConfiguration](mount.Secret)
	case mount.ConfigMap != nil:
		volume.ConfigMap, err = convert[corev1ac.ConfigMapVolumeSourceApplyConfiguration](mount.ConfigMap)
	case mount.EmptyDir != nil:
		volume.EmptyDir, err = convert[corev1ac.EmptyDirVolumeSourceApplyConfiguration](mount.EmptyDir)
	case mount.PersistentVolumeClaim != nil:
		volume.PersistentVolumeClaim, err = convert[corev1ac.PersistentVolumeClaimVolumeSourceApplyConfiguration](mount.PersistentVolumeClaim)
	case mount.Projected != nil:
		volume.Projected, err = convert[corev1ac.ProjectedVolumeSourceApplyConfiguration](mount.Projected)
		completeProjected(volume.Projected)
	}
	return volume, err
}
