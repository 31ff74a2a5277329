// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"cmp"
	"slices"
	"strings"
	"unique"

	corev1 "k8s.io/api/core/v1"
)

// PodReferences are the objects to which pods refer by name, if their kind may be a child: the ServiceAccount, then
// the ConfigMaps, one per line. It is a string because each cached ReplicaSet has one, and those of one Application
// are mostly equal.
type PodReferences string

// ReferencesOf returns the references of pods with this spec.
func ReferencesOf(pod *corev1.PodSpec) PodReferences {
	var configMaps []string
	add := func(name string) { configMaps = append(configMaps, name) }
	for _, containers := range [][]corev1.Container{pod.InitContainers, pod.Containers} {
		for i := range containers {
			configMapsOfContainer(&containers[i], add)
		}
	}
	for i := range pod.Volumes {
		configMapsOfVolume(&pod.Volumes[i], add)
	}
	slices.Sort(configMaps)
	names := append([]string{cmp.Or(pod.ServiceAccountName, "default")}, slices.Compact(configMaps)...)
	return PodReferences(unique.Make(strings.Join(names, "\n")).Value())
}

// Has reports whether the pods refer to the child.
func (r PodReferences) Has(ref Ref) bool {
	account, configMaps, _ := strings.Cut(string(r), "\n")
	switch ref.Kind {
	case ServiceAccount:
		return ref.Name == account
	case ConfigMap:
		return slices.Contains(strings.Split(configMaps, "\n"), ref.Name)
	default:
		return false
	}
}

func configMapsOfContainer(container *corev1.Container, add func(name string)) {
	for i := range container.Env {
		if source := container.Env[i].ValueFrom; source != nil && source.ConfigMapKeyRef != nil {
			add(source.ConfigMapKeyRef.Name)
		}
	}
	for i := range container.EnvFrom {
		if source := container.EnvFrom[i].ConfigMapRef; source != nil {
			add(source.Name)
		}
	}
}

func configMapsOfVolume(volume *corev1.Volume, add func(name string)) {
	if volume.ConfigMap != nil {
		add(volume.ConfigMap.Name)
	}
	if volume.Projected == nil {
		return
	}
	for i := range volume.Projected.Sources {
		if source := volume.Projected.Sources[i].ConfigMap; source != nil {
			add(source.Name)
		}
	}
}
