// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// A volume that hides what programs need is possible, and hardly meant.
func TestHiddenFiles(t *testing.T) {
	const (
		hides     = " hides everything that the container has there, and without it most programs do not run: use a directory of its own, such as /etc/web"
		token     = " is in the way of the ServiceAccount's token, which belongs in /var/run/secrets/kubernetes.io/serviceaccount: use another directory, or set serviceAccount.automountToken to false"
		temporary = " leaves the container no writable /tmp, where most programs keep temporary files: use another directory, such as /etc/web, or a writable volume"
	)
	configAt := func(path string) *v1.Application {
		return application(func(a *v1.Application) {
			a.Spec.Config = &v1.Config{MountPath: path, Data: map[string]string{"web.yaml": "x"}}
		})
	}
	withToken := func(a *v1.Application) *v1.Application {
		a.Spec.ServiceAccount = &v1.ServiceAccount{AutomountToken: new(true)}
		return a
	}
	mounted := func(mount v1.Mount) *v1.Application {
		return application(func(a *v1.Application) { a.Spec.Mounts = []v1.Mount{mount} })
	}
	emptyDirAt := func(path string) *v1.Application {
		return mounted(v1.Mount{MountPath: path, EmptyDir: &corev1.EmptyDirVolumeSource{}})
	}
	audience := v1.Mount{MountPath: tokenPath, Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", Audience: "vault"}}}}}
	sidecar := application(func(a *v1.Application) {
		a.Spec.Sidecars = []corev1.Container{{Name: "proxy", Image: "example.com/proxy:1", VolumeMounts: []corev1.VolumeMount{{Name: v1.TemporaryVolumeName, MountPath: "/lib"}}}}
	})
	source := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}, Optional: new(true)}
	claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "web"}
	sidecarAt := func(volume string) *v1.Application {
		a := configAt("/etc/web")
		a.Spec.Sidecars = []corev1.Container{{Name: "proxy", Image: "example.com/proxy:1", VolumeMounts: []corev1.VolumeMount{{Name: volume, MountPath: "/tmp"}}}}
		return a
	}
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "a directory of its own", updated: configAt("/etc/web")},
		{name: "files of an application", updated: configAt("/usr/share/nginx/html")},
		{name: "no writable /tmp", updated: configAt("/tmp/"), want: []string{"spec.config.mountPath: a read-only volume at /tmp/" + temporary}},
		{name: "no writable /tmp, as before", updated: configAt("/tmp"), old: configAt("/tmp")},
		{name: "below /tmp", updated: configAt("/tmp/web")},
		{name: "a ConfigMap at /tmp", updated: mounted(v1.Mount{MountPath: "/tmp", ConfigMap: source, ReadOnly: new(false)}), want: []string{"spec.mounts[/tmp].mountPath: a read-only volume at /tmp" + temporary}},
		{name: "an emptyDir at /tmp", updated: emptyDirAt("/tmp")},
		{name: "a claim at /tmp", updated: mounted(v1.Mount{MountPath: "/tmp", PersistentVolumeClaim: claim})},
		{name: "a read-only claim at /tmp", updated: mounted(v1.Mount{MountPath: "/tmp", PersistentVolumeClaim: claim, ReadOnly: new(true)}), want: []string{"spec.mounts[/tmp].mountPath: a read-only volume at /tmp" + temporary}},
		{name: "a sidecar's /tmp", updated: sidecarAt(v1.TemporaryVolumeName)},
		{name: "files at a sidecar's /tmp", updated: sidecarAt(v1.ConfigVolumeName), want: []string{"spec.sidecars[proxy].volumeMounts[/tmp].mountPath: a read-only volume at /tmp" + temporary}},
		{name: "programs", updated: configAt("/usr/"), want: []string{"spec.config.mountPath: a volume at /usr/" + hides}},
		{name: "devices of the kernel", updated: configAt("/sys/web"), want: []string{"spec.config.mountPath: a volume at /sys/web" + hides}},
		{name: "a mount", updated: emptyDirAt("/etc"), want: []string{"spec.mounts[/etc].mountPath: a volume at /etc" + hides}},
		{name: "shared memory", updated: emptyDirAt("/dev/shm")},
		{name: "a sidecar's", updated: sidecar, want: []string{"spec.sidecars[proxy].volumeMounts[/lib].mountPath: a volume at /lib" + hides}},
		{name: "as before", updated: configAt("/usr"), old: configAt("/usr")},
		{name: "by an update", updated: configAt("/usr"), old: configAt("/etc/web"), want: []string{"spec.config.mountPath: a volume at /usr" + hides}},
		{name: "a token's directory without a token", updated: configAt("/var/run/secrets")},
		{name: "in the way of the token", updated: withToken(configAt("/var/run/secrets")), want: []string{"spec.config.mountPath: a volume at /var/run/secrets" + token}},
		{name: "beside the token", updated: withToken(configAt("/var/run/secrets/web"))},
		{name: "another token", updated: withToken(mounted(audience))},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, new(cluster).handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
