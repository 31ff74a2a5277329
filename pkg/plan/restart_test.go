// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// TestKeepRestart: kubectl rollout restart works as well after a restart that is in the spec.
func TestKeepRestart(t *testing.T) {
	const field = ".spec.template.metadata.annotations." + v1.AnnotationRestartedAt
	for _, test := range []struct {
		name, live string
		restored   bool
	}{
		{"restarted since", "2026-01-02T03:04:06Z", false},
		{"restarted since, in another time zone", "2026-01-02T05:04:06+02:00", false},
		{"restarted before", "2026-01-02T03:04:04Z", true},
		{"no time", "yesterday", true},
		{"removed", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, `podMetadata: {annotations: {kubectl.kubernetes.io/restartedAt: "2026-01-02T03:04:05Z"}}`))
			annotations := live[*appsv1.Deployment](snapshot, child.Deployment).Spec.Template.Annotations
			annotations[v1.AnnotationRestartedAt] = test.live
			if test.live == "" {
				delete(annotations, v1.AnnotationRestartedAt)
			}
			got := step(t, compute(t, snapshot), ref(child.Deployment))
			if want := map[bool]plan.Action{true: plan.Apply, false: plan.Keep}[test.restored]; got.Action != want || slices.Contains(got.Fields, field) != test.restored {
				t.Errorf("%s of %v, want %s", got.Action, got.Fields, want)
			}
		})
	}
}

// TestKeepRestartWithOtherPods: where the spec goes back to pods with an earlier restart, the apply writes the later one again. Without
// it, the API server would remove an annotation that Fairlead wrote, and the next sync would restart the pods once more.
func TestKeepRestartWithOtherPods(t *testing.T) {
	const earlier, later = "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"
	snapshot := settled(t, application(t, `podMetadata: {annotations: {kubectl.kubernetes.io/restartedAt: "`+earlier+`"}}`))
	template := &live[*appsv1.Deployment](snapshot, child.Deployment).Spec.Template
	template.Annotations[v1.AnnotationRestartedAt] = later
	template.Spec.Containers[0].Image = "registry.example.com/web:other"
	got := step(t, compute(t, snapshot), ref(child.Deployment))
	object, err := got.Desired.Object()
	if err != nil {
		t.Fatal(err)
	}
	restartedAt, _, _ := unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations", v1.AnnotationRestartedAt)
	if got.Action != plan.Apply || restartedAt != later || !got.Desired.IfUnchanged {
		t.Errorf("%s with the restart %q, if unchanged: %t", got.Action, restartedAt, got.Desired.IfUnchanged)
	}
}

// TestRestartTakenBack: where the spec goes back to an earlier restart, a later one of the Application itself goes, and one of kubectl stays.
func TestRestartTakenBack(t *testing.T) {
	const earlier, later = "2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"
	for _, test := range []struct {
		name, recorded string
		foreign        bool
		want           string
	}{
		{name: "its own", recorded: later, want: earlier},
		{name: "since its own", recorded: earlier, want: later},
		{name: "since pods without a restart", want: later},
		{name: "of another Application", recorded: later, foreign: true, want: later},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, `podMetadata: {annotations: {kubectl.kubernetes.io/restartedAt: "`+earlier+`"}}`))
			deployment := live[*appsv1.Deployment](snapshot, child.Deployment)
			deployment.Annotations[v1.AnnotationRevision] = "web-restarted"
			deployment.Spec.Template.Annotations[v1.AnnotationRestartedAt] = later
			deployment.Spec.Template.Spec.Containers[0].Image = "registry.example.com/web:other"
			former := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(`{"spec":{"podMetadata":{"annotations":{"` + v1.AnnotationRestartedAt + `":"` + test.recorded + `"}}}}`)}}
			former.Namespace, former.Name = "shop", "web-restarted"
			if !test.foreign {
				former.OwnerReferences = deployment.OwnerReferences
			}
			snapshot.Children[child.Ref{Kind: child.ControllerRevision, Namespace: "shop", Name: former.Name}] = former
			got := step(t, compute(t, snapshot), ref(child.Deployment))
			object, err := got.Desired.Object()
			if err != nil {
				t.Fatal(err)
			}
			restartedAt, _, _ := unstructured.NestedString(object.Object, "spec", "template", "metadata", "annotations", v1.AnnotationRestartedAt)
			if got.Action != plan.Apply || restartedAt != test.want {
				t.Errorf("%s with the restart %q, want %q", got.Action, restartedAt, test.want)
			}
		})
	}
}
