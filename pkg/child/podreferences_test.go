// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestReferencesOf(t *testing.T) {
	local := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	pod := &corev1.PodSpec{
		ServiceAccountName: "web",
		InitContainers: []corev1.Container{{
			Env: []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: local("env")}}}},
		}},
		Containers: []corev1.Container{{
			EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local("all")}}, {SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("secret")}}},
		}},
		Volumes: []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("files")}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: local("parts")}}, {Secret: &corev1.SecretProjection{}},
			}}}},
			{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("files")}}},
		},
	}
	references := ReferencesOf(pod)
	if want := PodReferences("web\nall\nenv\nfiles\nparts"); references != want {
		t.Errorf("references are %q, want %q", references, want)
	}
	for _, name := range []string{"all", "env", "files", "parts"} {
		if !references.Has(Ref{Kind: ConfigMap, Name: name}) {
			t.Errorf("ConfigMap %s is not among them", name)
		}
	}
	for _, other := range []Ref{{Kind: ConfigMap, Name: "web"}, {Kind: ConfigMap, Name: "secret"}, {Kind: ServiceAccount, Name: "all"}, {Kind: Service, Name: "web"}} {
		if references.Has(other) {
			t.Errorf("%s is among them", other)
		}
	}
	if !references.Has(Ref{Kind: ServiceAccount, Name: "web"}) || !ReferencesOf(&corev1.PodSpec{}).Has(Ref{Kind: ServiceAccount, Name: "default"}) {
		t.Error("the ServiceAccount is not among them")
	}
}
