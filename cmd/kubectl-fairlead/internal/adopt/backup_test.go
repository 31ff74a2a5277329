// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestBackupIsAManifest: kubectl create accepts the parts of a backup as they are. What was saved is not changed by that.
func TestBackupIsAManifest(t *testing.T) {
	saved := Saved{Deployment: parse[appsv1.Deployment](t, chart), Service: parse[corev1.Service](t, exposed)}
	saved.Deployment.TypeMeta, saved.Service.TypeMeta = metav1.TypeMeta{}, metav1.TypeMeta{}
	saved.Deployment.ResourceVersion, saved.Service.ResourceVersion = "7", "8"
	secret, err := Backup(saved)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]metav1.TypeMeta{DeploymentKey: {APIVersion: "apps/v1", Kind: "Deployment"}, ServiceKey: {APIVersion: "v1", Kind: "Service"}} {
		var got metav1.PartialObjectMetadata
		if err := json.Unmarshal(secret.Data[key], &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.TypeMeta); diff != "" || got.ResourceVersion != "" {
			t.Errorf("%s has the resource version %q, and (-want +got):\n%s", key, got.ResourceVersion, diff)
		}
	}
	if saved.Deployment.ResourceVersion != "7" || saved.Deployment.Kind != "" || saved.Service.ResourceVersion != "8" {
		t.Error("the objects that were saved are changed")
	}
}
