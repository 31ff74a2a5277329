// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deployment has a container of each image; the first is called controller.
func deployment(name string, images ...string) *unstructured.Unstructured {
	var containers []any
	for i, image := range images {
		containers = append(containers, map[string]any{"name": []string{controllerContainer, "sidecar"}[i], "image": image})
	}
	object := &unstructured.Unstructured{Object: map[string]any{"kind": deploymentKind, "spec": map[string]any{
		"template": map[string]any{"spec": map[string]any{"containers": containers}},
	}}}
	object.SetName(name)
	return object
}

// TestSetImage: what runs from the controller's image runs from the new one too, and nothing else does.
func TestSetImage(t *testing.T) {
	got := []*unstructured.Unstructured{deployment("fairlead-apiserver", "dev", "proxy"), deployment(controllerName, "dev", "proxy"), deployment("other", "other")}
	if err := setImage(got, "new"); err != nil {
		t.Fatal(err)
	}
	want := []*unstructured.Unstructured{deployment("fairlead-apiserver", "new", "proxy"), deployment(controllerName, "new", "proxy"), deployment("other", "other")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
	if err := setImage(got[:1], "newer"); err == nil || !strings.Contains(err.Error(), controllerName) {
		t.Errorf("without the controller: %v", err)
	}
}
