// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// TestIsVouched: each object vouches for itself, by the digest or by being what the backup says.
func TestIsVouched(t *testing.T) {
	before := Saved{Deployment: parse[appsv1.Deployment](t, chart), Service: parse[corev1.Service](t, exposed)}
	secret, err := Backup(before)
	if err != nil {
		t.Fatal(err)
	}
	digest := Digest(secret)
	with := func(change func(*appsv1.Deployment, *corev1.Service)) (*appsv1.Deployment, *corev1.Service) {
		deployment, service := before.Deployment.DeepCopy(), before.Service.DeepCopy()
		deployment.Spec.Template.Spec.Containers[0].Image, service.Spec.Type = "web:2", corev1.ServiceTypeLoadBalancer
		deployment.Annotations, service.Annotations = map[string]string{AnnotationBackup: digest}, map[string]string{AnnotationBackup: digest}
		change(deployment, service)
		return deployment, service
	}
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment, *corev1.Service)
		want   bool
	}{
		"adopted":                         {func(*appsv1.Deployment, *corev1.Service) {}, true},
		"the Deployment has another":      {func(d *appsv1.Deployment, _ *corev1.Service) { d.Annotations[AnnotationBackup] = "sha256:00" }, false},
		"the Service has none":            {func(_ *appsv1.Deployment, s *corev1.Service) { s.Annotations = nil }, false},
		"the Service is restored already": {func(_ *appsv1.Deployment, s *corev1.Service) { *s = *before.Service.DeepCopy() }, true},
		"both are restored already": {func(d *appsv1.Deployment, s *corev1.Service) {
			*d, *s = *before.Deployment.DeepCopy(), *before.Service.DeepCopy()
		}, true},
		"restored, with what others added": {func(d *appsv1.Deployment, _ *corev1.Service) {
			*d = *before.Deployment.DeepCopy()
			d.Labels["more"] = "yes"
		}, true},
	} {
		deployment, service := with(test.change)
		if got := before.IsVouched(digest, deployment, service); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
	for key := range secret.Data {
		changed := secret.DeepCopy()
		changed.Data[key] = append(changed.Data[key], ' ')
		if Digest(changed) == digest {
			t.Errorf("the digest does not cover %s", key)
		}
	}
}

// TestDescribes: before an adoption, a backup says what runs.
func TestDescribes(t *testing.T) {
	before := Saved{Deployment: parse[appsv1.Deployment](t, chart), Service: parse[corev1.Service](t, exposed)}
	consented := before.Service.DeepCopy()
	consented.Annotations = map[string]string{AnnotationBackup: "digest", "apps.fairlead.dev/adoptable-by": "uid"}
	other := before.Service.DeepCopy()
	other.Spec.ExternalIPs = []string{"192.0.2.1"}
	for name, test := range map[string]struct {
		service *corev1.Service
		want    bool
	}{"as saved": {before.Service, true}, "with the consent": {consented, true}, "another one": {other, false}, "none": {nil, false}} {
		if got := before.Describes("digest", before.Deployment, test.service); got != test.want {
			t.Errorf("the Service %s: %t, want %t", name, got, test.want)
		}
	}
	deployment := before.Deployment.DeepCopy()
	deployment.Annotations[AnnotationBackup] = "of an earlier adoption"
	if !before.Describes("digest", deployment, before.Service) {
		t.Error("what an earlier adoption left is in the way")
	}
	deployment.Spec.Template.Spec.HostNetwork = true
	if before.Describes("digest", deployment, before.Service) {
		t.Error("it describes another pod template")
	}
}

// TestRestored: what is about privileges is printed value by value; of a backup without a voucher, everything is.
func TestRestored(t *testing.T) {
	saved := Saved{Deployment: parse[appsv1.Deployment](t, chart), Service: parse[corev1.Service](t, exposed)}
	live := saved.Deployment.DeepCopy()
	rename(&live.Spec.Template.Spec, "shop", "web", false)
	live.Spec.Template.Spec.Containers[0].Image = "shop:2"
	live.Spec.MinReadySeconds = 5
	service := saved.Service.DeepCopy()
	saved.Service.Spec.ExternalIPs = []string{"192.0.2.1"}
	saved.Deployment.Spec.Template.Spec.Volumes[1].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}
	const deployment = "Deployment/web: .spec"
	want := []preview.Change{
		{Path: deployment + ".template.spec.containers[web].image", Before: "shop:2", After: "shop:1"},
		{Path: deployment + ".template.spec.volumes[tmp].emptyDir", Before: map[string]any{}},
		{Path: deployment + ".template.spec.volumes[tmp].hostPath.path", After: "/"},
		{Path: "Service/web: .spec.externalIPs[0]", After: "192.0.2.1"},
	}
	for _, every := range []bool{false, true} {
		got, err := saved.Restored(live, service, every)
		if err != nil {
			t.Fatal(err)
		}
		if every {
			want = append([]preview.Change{{Path: deployment + ".minReadySeconds", Before: float64(5)}}, want...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("every %t (-want +got):\n%s", every, diff)
		}
	}
}

// TestRestoredMetadata: labels and annotations exempt from policies, and trigger other controllers. So those of a backup that nothing
// vouches for are printed too, and none of Fairlead's marks comes from it.
func TestRestoredMetadata(t *testing.T) {
	saved := Saved{Deployment: parse[appsv1.Deployment](t, chart), Service: parse[corev1.Service](t, exposed)}
	saved.Deployment.Labels = map[string]string{"policy.example.com/exempt": "yes", v1.LabelApplication: "web"}
	saved.Deployment.Annotations = map[string]string{v1.AnnotationAdoptableBy: "uid", v1.AnnotationOwnerUID: "uid", child.RevisionAnnotation: "3"}
	saved.Service.Labels = map[string]string{v1.LabelApplication: "web"}
	saved.Service.Annotations = map[string]string{v1.AnnotationAdoptableBy: "uid", "example.com/class": "internet"}
	changes, err := saved.Restored(nil, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []preview.Change{
		{Path: "Deployment/web: .metadata.labels[policy.example.com/exempt]", After: "yes"},
		{Path: "Service/web: .metadata.annotations[example.com/class]", After: "internet"},
		{Path: "Service/web: .metadata.labels[apps.fairlead.dev/application]", After: "web"},
	}
	changes = slices.DeleteFunc(changes, func(c preview.Change) bool { return strings.Contains(c.Path, inSpec) })
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("created again (-want +got):\n%s", diff)
	}
	created := RecreatedDeployment(saved)
	if diff := cmp.Diff(map[string]string{"policy.example.com/exempt": "yes"}, created.Labels); diff != "" || len(created.Annotations) > 0 {
		t.Errorf("annotations %v, labels (-want +got):\n%s", created.Annotations, diff)
	}

	live, service := saved.Deployment.DeepCopy(), saved.Service.DeepCopy()
	service.UID = "uid"
	live.Annotations, service.Annotations = map[string]string{AnnotationBackup: "sha256:00"}, map[string]string{AnnotationBackup: "sha256:00"}
	want = []preview.Change{
		{Path: "Deployment/web: .metadata.annotations[apps.fairlead.dev/adoptable-by]", After: "uid"},
		{Path: "Deployment/web: .metadata.annotations[apps.fairlead.dev/owner-uid]", After: "uid"},
		{Path: "Service/web: .metadata.annotations[apps.fairlead.dev/adoptable-by]", After: "uid"},
	}
	if changes, err = saved.Restored(live, service, true); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
}
