// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/preview"
)

// Compare returns how the pods will differ. next is the template of the Application as the API server completes it. The
// application's container, and the volumes that it mounts, have other names afterwards; they are compared by the new ones.
// lost are the fields that the Application does not have.
func Compare(live *appsv1.Deployment, container string, next *corev1.PodTemplateSpec) (changed, lost []preview.Change, err error) {
	before := live.Spec.Template.DeepCopy()
	rename(&before.Spec, container, live.Name)
	all, err := preview.Changes(before, next)
	if err != nil {
		return nil, nil, err
	}
	for _, change := range all {
		switch {
		case change.After == nil && meansNothing(change):
		case change.After == nil:
			lost = append(lost, change)
		default:
			changed = append(changed, change)
		}
	}
	return changed, lost, nil
}

// meansNothing reports whether pods are the same without a field: it is empty, says what holds anyway, or is metadata that
// pods do not take over from their template.
func meansNothing(lost preview.Change) bool {
	switch lost.Path {
	case ".metadata.name", ".metadata.namespace":
		return true
	case ".spec.shareProcessNamespace", ".spec.setHostnameAsFQDN":
		return lost.Before == false
	}
	switch value := lost.Before.(type) {
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	default:
		return value == nil
	}
}

// rename gives the container and its volumes the names that the Application gives them.
func rename(pod *corev1.PodSpec, container, name string) {
	at := slices.IndexFunc(pod.Containers, func(candidate corev1.Container) bool { return candidate.Name == container })
	if at < 0 {
		return
	}
	main := &pod.Containers[at]
	names := volumeNames(main)
	main.Name = name
	for i := range pod.Volumes {
		pod.Volumes[i].Name = cmp.Or(names.first[pod.Volumes[i].Name], pod.Volumes[i].Name)
	}
	for _, containers := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
		for i := range containers {
			for j := range containers[i].VolumeMounts {
				mount := &containers[i].VolumeMounts[j]
				mount.Name = cmp.Or(names.of(mount), mount.Name)
			}
		}
	}
	for i := range main.VolumeMounts {
		main.VolumeMounts[i].Name = v1.VolumeName(main.VolumeMounts[i].MountPath)
	}
}
