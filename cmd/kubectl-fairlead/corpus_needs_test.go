// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// needs are the names, and the keys, of what pods refer to, by kind.
type needs map[string]map[string]map[string]string

func (n needs) key(kind, name, key string) {
	if n[kind] == nil {
		n[kind] = map[string]map[string]string{}
	}
	if n[kind][name] == nil {
		n[kind][name] = map[string]string{}
	}
	if key != "" {
		n[kind][name][key] = "value"
	}
}

func (n needs) add(pod *corev1.PodSpec) {
	if pod.ServiceAccountName != "" {
		n.key("ServiceAccount", pod.ServiceAccountName, "")
	}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, env := range container.Env {
			switch from := env.ValueFrom; {
			case from == nil:
			case from.ConfigMapKeyRef != nil:
				n.key("ConfigMap", from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
			case from.SecretKeyRef != nil:
				n.key("Secret", from.SecretKeyRef.Name, from.SecretKeyRef.Key)
			}
		}
		for _, from := range container.EnvFrom {
			if from.ConfigMapRef != nil {
				n.key("ConfigMap", from.ConfigMapRef.Name, "")
			}
			if from.SecretRef != nil {
				n.key("Secret", from.SecretRef.Name, "")
			}
		}
	}
	for _, volume := range pod.Volumes {
		n.volume(volume.VolumeSource)
	}
}

func (n needs) volume(source corev1.VolumeSource) {
	items := func(kind, name string, items []corev1.KeyToPath) {
		n.key(kind, name, "")
		for _, item := range items {
			n.key(kind, name, item.Key)
		}
	}
	switch {
	case source.ConfigMap != nil:
		items("ConfigMap", source.ConfigMap.Name, source.ConfigMap.Items)
	case source.Secret != nil:
		items("Secret", source.Secret.SecretName, source.Secret.Items)
	case source.PersistentVolumeClaim != nil:
		n.key("PersistentVolumeClaim", source.PersistentVolumeClaim.ClaimName, "")
	case source.Projected != nil:
		for _, part := range source.Projected.Sources {
			if part.Secret != nil {
				items("Secret", part.Secret.Name, part.Secret.Items)
			}
		}
	}
}

// boundVolume returns a volume and the claim that gets it: no provisioner runs.
func boundVolume(namespace, name string) (*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%s", namespace, name)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef:               &corev1.ObjectReference{Namespace: namespace, Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}},
		},
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, VolumeName: volume.Name, StorageClassName: new(string), Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}
	return volume, claim
}
