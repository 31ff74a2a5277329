// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// volumes turns the mounts of the application's container into mounts of the Application, and copies the other
// containers, which mount the same volumes by the names that Fairlead gives them.
func volumes(spec *v1.ApplicationSpec, pod *corev1.PodSpec, main *corev1.Container) error {
	temporary := hasTemporaryVolume(pod, main)
	names := volumeNames(main, temporary)
	mounted := map[string]bool{}
	var errs []error
	for i, mount := range main.VolumeMounts {
		if temporary && path.Clean(mount.MountPath) == v1.TemporaryPath {
			continue // The Application adds it. A mount of its own would rename the volume, and replace the pods.
		}
		at := fmt.Sprintf("%s.containers[%s].volumeMounts[%s]", podPath, main.Name, mount.MountPath)
		if mount.SubPathExpr != "" || mount.MountPropagation != nil || mount.RecursiveReadOnly != nil {
			errs = append(errs, refused(at, "an Application has no subPathExpr, mountPropagation or recursiveReadOnly"))
			continue
		}
		index := slices.IndexFunc(pod.Volumes, func(volume corev1.Volume) bool { return volume.Name == mount.Name })
		if index < 0 {
			errs = append(errs, refused(at, "there is no volume "+mount.Name))
			continue
		}
		source := pod.Volumes[index].VolumeSource
		made := v1.Mount{
			MountPath: mount.MountPath, SubPath: mount.SubPath, ReadOnly: &main.VolumeMounts[i].ReadOnly, Secret: source.Secret, ConfigMap: source.ConfigMap,
			EmptyDir: source.EmptyDir, PersistentVolumeClaim: source.PersistentVolumeClaim, Projected: source.Projected,
		}
		switch {
		case made.Secret == nil && made.ConfigMap == nil && made.EmptyDir == nil && made.PersistentVolumeClaim == nil && made.Projected == nil:
			errs = append(errs, refused(podPath+".volumes["+mount.Name+"]", "an Application mounts Secrets, ConfigMaps, emptyDirs, PersistentVolumeClaims and projected volumes only"))
			continue
		case mounted[mount.Name] && made.EmptyDir != nil && !divisible(pod, main, &pod.Volumes[index]):
			errs = append(errs, refused(at, "the container mounts the volume "+mount.Name+" twice, and an Application would give it two"))
			continue
		}
		mounted[mount.Name] = true
		spec.Mounts = append(spec.Mounts, made)
	}
	if err := allRefused(errs...); err != nil {
		return err
	}
	copied := func(kind string, containers []corev1.Container, without string) ([]corev1.Container, error) {
		var kept []corev1.Container
		for i := range containers {
			container := containers[i].DeepCopy()
			if container.Name == without {
				continue
			}
			for j := range container.VolumeMounts {
				mount := &container.VolumeMounts[j]
				name := names.of(mount)
				if name == "" {
					return nil, refused(fmt.Sprintf("%s.%s[%s].volumeMounts[%s]", podPath, kind, container.Name, mount.MountPath),
						"the application's container does not mount the volume "+mount.Name)
				}
				mount.Name = name
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

// hasTemporaryVolume reports whether the pods have the very volume that an Application adds, such as those that one left behind.
func hasTemporaryVolume(pod *corev1.PodSpec, main *corev1.Container) bool {
	mounts := 0
	for i := range main.VolumeMounts {
		mount := &main.VolumeMounts[i]
		isTemporary := path.Clean(mount.MountPath) == v1.TemporaryPath
		if isTemporary && !equality.Semantic.DeepEqual(*mount, corev1.VolumeMount{Name: v1.TemporaryVolumeName, MountPath: v1.TemporaryPath}) {
			return false
		}
		if isTemporary || mount.Name == v1.TemporaryVolumeName {
			mounts++
		}
	}
	isAdded := func(volume corev1.Volume) bool {
		return equality.Semantic.DeepEqual(volume, corev1.Volume{Name: v1.TemporaryVolumeName, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	return mounts == 1 && slices.ContainsFunc(pod.Volumes, isAdded)
}

// names are those that the volumes of the application's container get: one for each of its mounts.
type names struct {
	first  map[string]string    // by the name of the volume
	mounts map[[2]string]string // by that, and the path in the volume
}

// volumeNames returns the names. temporary says that the Application adds the volume at TemporaryPath itself.
func volumeNames(main *corev1.Container, temporary bool) names {
	n := names{map[string]string{}, map[[2]string]string{}}
	for i := range main.VolumeMounts {
		mount := &main.VolumeMounts[i]
		name := volumeName(mount, temporary)
		n.first[mount.Name] = cmp.Or(n.first[mount.Name], name)
		n.mounts[keyOf(mount)] = cmp.Or(n.mounts[keyOf(mount)], name)
	}
	return n
}

func volumeName(mount *corev1.VolumeMount, temporary bool) string {
	if temporary && path.Clean(mount.MountPath) == v1.TemporaryPath {
		return v1.TemporaryVolumeName
	}
	return v1.VolumeName(mount.MountPath)
}

func keyOf(mount *corev1.VolumeMount) [2]string {
	return [2]string{mount.Name, path.Clean(mount.SubPath)}
}

// of returns the name of the volume that another container mounts; "" if the application's does not mount it.
func (n names) of(mount *corev1.VolumeMount) string {
	return cmp.Or(n.mounts[keyOf(mount)], n.first[mount.Name])
}

// divisible reports whether an emptyDir can become several: its mounts have directories of their own in it, so no container
// sees what another one wrote through another mount. Charts use one emptyDir like that for all that is not kept.
func divisible(pod *corev1.PodSpec, main *corev1.Container, volume *corev1.Volume) bool {
	if volume.EmptyDir.SizeLimit != nil {
		return false
	}
	var paths []string
	collect := func(container *corev1.Container) {
		for i := range container.VolumeMounts {
			if mount := &container.VolumeMounts[i]; mount.Name == volume.Name {
				paths = append(paths, keyOf(mount)[1])
			}
		}
	}
	collect(main)
	if len(slices.Compact(slices.Sorted(slices.Values(paths)))) < len(paths) {
		return false // Two mounts of one directory.
	}
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			collect(&containers[i])
		}
	}
	for _, one := range paths {
		inside := func(other string) bool { return strings.HasPrefix(other, one+"/") }
		if one == "." || slices.ContainsFunc(paths, inside) {
			return false
		}
	}
	return true
}
