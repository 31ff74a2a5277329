// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// volumes turns the mounts of the application's container into mounts of the Application, and copies the other
// containers, which mount the same volumes by the names that Fairlead gives them.
func volumes(spec *v1.ApplicationSpec, pod *corev1.PodSpec, main *corev1.Container) error {
	names := VolumeNames(main)
	mounted := map[string]bool{}
	for i, mount := range main.VolumeMounts {
		path := fmt.Sprintf("%s.containers[%s].volumeMounts[%s]", podPath, main.Name, mount.MountPath)
		if mount.SubPathExpr != "" || mount.MountPropagation != nil || mount.RecursiveReadOnly != nil {
			return refused(path, "an Application has no subPathExpr, mountPropagation or recursiveReadOnly")
		}
		at := slices.IndexFunc(pod.Volumes, func(volume corev1.Volume) bool { return volume.Name == mount.Name })
		if at < 0 {
			return refused(path, "there is no volume "+mount.Name)
		}
		source := pod.Volumes[at].VolumeSource
		made := v1.Mount{
			MountPath: mount.MountPath, SubPath: mount.SubPath, ReadOnly: &main.VolumeMounts[i].ReadOnly, Secret: source.Secret, ConfigMap: source.ConfigMap,
			EmptyDir: source.EmptyDir, PersistentVolumeClaim: source.PersistentVolumeClaim, Projected: source.Projected,
		}
		switch {
		case made.Secret == nil && made.ConfigMap == nil && made.EmptyDir == nil && made.PersistentVolumeClaim == nil && made.Projected == nil:
			return refused(podPath+".volumes["+mount.Name+"]", "an Application mounts Secrets, ConfigMaps, emptyDirs, PersistentVolumeClaims and projected volumes only")
		case mounted[mount.Name] && made.EmptyDir != nil:
			return refused(path, "the container mounts the volume "+mount.Name+" twice, and an Application would give it two")
		}
		mounted[mount.Name] = true
		spec.Mounts = append(spec.Mounts, made)
	}
	copied := func(kind string, containers []corev1.Container, without string) ([]corev1.Container, error) {
		var kept []corev1.Container
		for i := range containers {
			container := containers[i].DeepCopy()
			if container.Name == without {
				continue
			}
			for j := range container.VolumeMounts {
				name := container.VolumeMounts[j].Name
				if names[name] == "" {
					return nil, refused(fmt.Sprintf("%s.%s[%s].volumeMounts[%s]", podPath, kind, container.Name, container.VolumeMounts[j].MountPath),
						"the application's container does not mount the volume "+name)
				}
				container.VolumeMounts[j].Name = names[name]
			}
			kept = append(kept, *container)
		}
		return kept, nil
	}
	var err error
	if spec.Sidecars, err = copied("containers", pod.Containers, main.Name); err != nil {
		return err
	}
	spec.InitContainers, err = copied("initContainers", pod.InitContainers, "")
	return err
}

// VolumeNames are the names that the volumes of the application's container get.
func VolumeNames(main *corev1.Container) map[string]string {
	names := map[string]string{}
	for _, mount := range main.VolumeMounts {
		if names[mount.Name] == "" {
			names[mount.Name] = v1.VolumeName(mount.MountPath)
		}
	}
	return names
}
