// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestApplied: a file that does not mention the replicas leaves them, unless it did when it was applied last.
func TestApplied(t *testing.T) {
	const file = `{"apiVersion":"apps.fairlead.dev/v1","kind":"Application","metadata":{"name":"web"},"spec":{"image":"web:2"}}`
	documents, err := manifest.Read(strings.NewReader(file), false, "-")
	if err != nil || len(documents) != 1 {
		t.Fatal(documents, err)
	}
	live := &v1.Application{Spec: v1.ApplicationSpec{Image: "web:1", Replicas: new(int32(3))}}
	live.Name = "web"
	applied, err := documents[0].Applied(live)
	if err != nil || applied.Spec.Image != "web:2" || applied.Spec.Replicas == nil || *applied.Spec.Replicas != 3 {
		t.Errorf("got %+v, %v, want the image of the file and 3 replicas", applied, err)
	}
	live.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: strings.Replace(file, `"web:2"`, `"web:2","replicas":3`, 1)}
	if applied, err = documents[0].Applied(live); err != nil || applied.Spec.Replicas != nil {
		t.Errorf("got %+v, %v, want no replicas", applied, err)
	}
	live.Annotations[corev1.LastAppliedConfigAnnotation] = "{"
	if _, err := documents[0].Applied(live); err == nil {
		t.Error("an annotation that is not JSON: want an error")
	}
}
