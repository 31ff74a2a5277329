// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestDecimalModes: 400 is written for 0400, and is 0620.
func TestDecimalModes(t *testing.T) {
	mount := func(mode int32) v1.Mount {
		return v1.Mount{MountPath: "/key", Secret: &corev1.SecretVolumeSource{SecretName: "key", DefaultMode: &mode}}
	}
	const warning = "spec.mounts[/key].secret.defaultMode: 400 is decimal, and 0620 in octal; did you mean 0400, which is 256 in JSON?"
	for name, test := range map[string]struct {
		mounts []v1.Mount
		want   []string
	}{
		"octal":         {mounts: []v1.Mount{mount(0o400), mount(0o440), mount(0o600), mount(0o644), mount(0o755), mount(0o777), mount(0)}},
		"decimal":       {mounts: []v1.Mount{mount(400)}, want: []string{warning}},
		"no mode":       {mounts: []v1.Mount{{MountPath: "/a", Secret: &corev1.SecretVolumeSource{}}, {MountPath: "/b", EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		"of projection": {mounts: []v1.Mount{{MountPath: "/a", Projected: &corev1.ProjectedVolumeSource{DefaultMode: new(int32(440))}}}, want: []string{"spec.mounts[/a].projected.defaultMode: 440 is decimal, and 0670 in octal; did you mean 0440, which is 288 in JSON?"}},
		"of an item": {mounts: []v1.Mount{{MountPath: "/a", ConfigMap: &corev1.ConfigMapVolumeSource{Items: []corev1.KeyToPath{{Key: "run.sh", Mode: new(int32(500))}}}}},
			want: []string{"spec.mounts[/a].configMap.items[run.sh].mode: 500 is decimal, and 0764 in octal; did you mean 0500, which is 320 in JSON?"}},
		"of an item of a projection": {
			mounts: []v1.Mount{{MountPath: "/a", Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
				{Secret: &corev1.SecretProjection{Items: []corev1.KeyToPath{{Key: "tls.key", Mode: new(int32(400))}}}},
				{ConfigMap: &corev1.ConfigMapProjection{Items: []corev1.KeyToPath{{Key: "run.sh", Mode: new(int32(500))}}}},
				{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{{Path: "labels", Mode: new(int32(444))}}}},
			}}}},
			want: []string{
				"spec.mounts[/a].projected.sources[0].secret.items[tls.key].mode: 400 is decimal, and 0620 in octal; did you mean 0400, which is 256 in JSON?",
				"spec.mounts[/a].projected.sources[1].configMap.items[run.sh].mode: 500 is decimal, and 0764 in octal; did you mean 0500, which is 320 in JSON?",
				"spec.mounts[/a].projected.sources[2].downwardAPI.items[labels].mode: 444 is decimal, and 0674 in octal; did you mean 0444, which is 292 in JSON?",
			}},
	} {
		if diff := cmp.Diff(test.want, Ineffective(&v1.ApplicationSpec{Mounts: test.mounts})); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", name, diff)
		}
	}
}
