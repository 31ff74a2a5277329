// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// An earlier Application that was deleted in the middle of an adoption leaves pods behind that lack Fairlead's label. To take its Service back,
// alone or before the Deployment, must not part it from them.
func TestServiceKeepsOldPods(t *testing.T) {
	snapshot := foreignSnapshot(t)
	service := live[*corev1.Service](snapshot, child.Service)
	service.Annotations = map[string]string{v1.AnnotationOwnerUID: string(applicationUID)}
	want := func(when string, action plan.Action) {
		t.Helper()
		got := step(t, compute(t, snapshot), ref(child.Service))
		if waits := strings.Contains(got.Reason, "it waits until every pod carries the label"); got.Action != action || waits != (action == plan.WaitDependency) {
			t.Errorf("%s: got %s: %s", when, got.Action, got.Reason)
		}
	}
	foreign := live[*appsv1.Deployment](snapshot, child.Deployment)
	want("beside a Deployment with a consent", plan.WaitDependency)
	foreign.Annotations = nil
	want("beside a foreign Deployment", plan.WaitDependency)
	delete(snapshot.Children, ref(child.Deployment))
	want("beside a Deployment that the informers lack", plan.WaitDependency)
	snapshot.Children[ref(child.Deployment)] = foreign
	deployment := adopted(t, snapshot)
	deployment.Status.UpdatedReplicas = 0
	want("before the rollout", plan.WaitDependency)
	service.Spec.Selector = map[string]string{v1.LabelApplication: "web", "tier": "front"}
	want("of pods that have the label", plan.Apply)
	service.Spec.Selector = map[string]string{"tier": "front"}
	deployment.Status.UpdatedReplicas = 2
	want("after the rollout", plan.Apply)
	deployment.Status.UpdatedReplicas = 0
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{v1.LabelApplication: "web"}}
	want("of a Deployment that Fairlead created", plan.Apply)
}
