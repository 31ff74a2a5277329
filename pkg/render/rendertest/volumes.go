// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rendertest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// volumes draws the files of the application, each at its own path.
func volumes(t *rapid.T, spec *v1.ApplicationSpec) {
	paths := some(t, "mountPaths", "/tmp", "/tmp/cache", "/etc/web", "/data", "/data/sub", "/var/lib/Web_1")
	if len(paths) > 0 && sometimes(t, "config") {
		spec.Config = &v1.Config{
			MountPath: paths[0],
			Data:      map[string]string{"web.yaml": oneOf(t, "web.yaml", "", "a: 1\n", "a: 2\n"), "other": "x"},
		}
		paths = paths[1:]
	}
	for _, path := range paths {
		mount := v1.Mount{
			MountPath: path,
			SubPath:   oneOf(t, "subPath", "", "sub/path"),
			ReadOnly:  maybe(t, "readOnly", rapid.Bool()),
		}
		source(t, &mount, spec.Sidecars)
		spec.Mounts = append(spec.Mounts, mount)
	}
}

func source(t *rapid.T, mount *v1.Mount, sidecars []corev1.Container) {
	name := oneOf(t, "name", "web", "shared")
	mode := maybe(t, "defaultMode", rapid.SampledFrom([]int32{0, 0o400, 0o644}))
	items := some(t, "items", corev1.KeyToPath{Key: "a", Path: "a"}, corev1.KeyToPath{Key: "b", Path: "b/c", Mode: maybe(t, "mode", rapid.Just[int32](0o440))})
	optional := maybe(t, "optional", rapid.Bool())
	switch oneOf(t, "source", "secret", "configMap", "emptyDir", "claim", "projected") {
	case "secret":
		mount.Secret = &corev1.SecretVolumeSource{SecretName: name, DefaultMode: mode, Items: items, Optional: optional}
	case "configMap":
		mount.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}, DefaultMode: mode, Items: items, Optional: optional}
	case "emptyDir":
		mount.EmptyDir = &corev1.EmptyDirVolumeSource{Medium: oneOf(t, "medium", "", corev1.StorageMediumMemory)}
		if sometimes(t, "sizeLimit") {
			mount.EmptyDir.SizeLimit = new(resource.MustParse(oneOf(t, "sizeLimit", "1024Mi", "1Gi", "5e8")))
		}
	case "claim":
		mount.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name, ReadOnly: sometimes(t, "readOnly")}
	case "projected":
		mount.Projected = &corev1.ProjectedVolumeSource{DefaultMode: mode, Sources: projections(t, sidecars)}
	}
}

func projections(t *rapid.T, sidecars []corev1.Container) []corev1.VolumeProjection {
	downward := []corev1.DownwardAPIVolumeFile{{Path: "labels", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels"}}}
	if len(sidecars) > 0 {
		downward = append(downward, corev1.DownwardAPIVolumeFile{
			Path: "cpu", ResourceFieldRef: &corev1.ResourceFieldSelector{ContainerName: sidecars[0].Name, Resource: "limits.cpu"}})
	}
	return atLeastOne(t, "sources",
		corev1.VolumeProjection{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{
			Path: "token", Audience: "shop", ExpirationSeconds: maybe(t, "expirationSeconds", rapid.Int64Range(600, 601))}},
		corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{Items: downward}},
		corev1.VolumeProjection{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}}},
		corev1.VolumeProjection{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "web"},
			Items:                []corev1.KeyToPath{{Key: "a", Path: "from-config"}},
		}},
	)
}
