// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// An adopted Deployment's pods need the labels that its selector has. The user may forget them in an edit.
func TestAdoptedPodsKeepSelectedLabels(t *testing.T) {
	for name, test := range map[string]struct {
		metadata *v1.PodMetadata
		want     map[string]string
	}{
		"all stay": {
			&v1.PodMetadata{Labels: map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "release"}},
			map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "release"},
		},
		"none in the spec": {nil, map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "release"}},
		"one of them, as an earlier revision had": {
			&v1.PodMetadata{Labels: map[string]string{"app.kubernetes.io/instance": "release"}},
			map[string]string{"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": "release"},
		},
		// The API server refuses it, and so the user learns that the label cannot change.
		"another value": {
			&v1.PodMetadata{Labels: map[string]string{"app.kubernetes.io/name": "front"}},
			map[string]string{"app.kubernetes.io/name": "front", "app.kubernetes.io/instance": "release"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := foreignSnapshot(t)
			adopted(t, snapshot)
			snapshot.Application.Spec.PodMetadata, snapshot.Application.Spec.MinReadySeconds = test.metadata, new(int32(5))
			got := step(t, compute(t, snapshot), ref(child.Deployment))
			object, err := got.Desired.Object()
			if err != nil {
				t.Fatal(err)
			}
			labels, _, err := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "labels")
			if err != nil || got.Action != plan.Apply {
				t.Fatalf("got %s: %v", got.Action, err)
			}
			for key, want := range test.want {
				if labels[key] != want {
					t.Errorf("label %s is %q, want %q", key, labels[key], want)
				}
			}
		})
	}
}
