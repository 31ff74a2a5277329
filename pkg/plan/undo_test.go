// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// The command kubectl rollout undo brings the annotations and the template of a former ReplicaSet back. The facts of these tests
// render revision web-1; it has number 3, and the former one is web-0 with number 2.
func TestRolloutUndo(t *testing.T) {
	undo := func(s child.Snapshot) {
		deployment := live[*appsv1.Deployment](s, child.Deployment)
		deployment.Annotations = map[string]string{v1.AnnotationRevision: "web-0", v1.AnnotationRenderedHash: "of-the-former-revision"}
		deployment.Spec.Template.Spec.Containers[0].Image = "web:0"
	}
	for _, test := range []struct {
		name   string
		happen func(child.Snapshot)
		undone int64
		drift  bool
	}{
		{name: "undone", happen: undo, undone: 2, drift: true},
		{name: "the rendered revision was not rolled out yet", happen: func(s child.Snapshot) { undo(s); s.Application.Status.Revision.Current = 2 }},
		{name: "nothing was rolled out yet", happen: func(s child.Snapshot) { undo(s); s.Application.Status.Revision = nil }},
		{name: "an unknown revision", happen: func(s child.Snapshot) {
			undo(s)
			live[*appsv1.Deployment](s, child.Deployment).Annotations[v1.AnnotationRevision] = "web-9"
		}},
		{name: "a revision of another owner", happen: func(s child.Snapshot) {
			undo(s)
			child.Get[*appsv1.ControllerRevision](s, child.ControllerRevision, "web-0").OwnerReferences = nil
		}},
		{name: "another image in the same revision", happen: func(s child.Snapshot) {
			live[*appsv1.Deployment](s, child.Deployment).Spec.Template.Spec.Containers[0].Image = "web:0"
		}, drift: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, webSpec))
			known(snapshot)
			current := child.Get[*appsv1.ControllerRevision](snapshot, child.ControllerRevision, "web-1")
			current.Revision = 3
			former := current.DeepCopy()
			former.Name, former.Revision = "web-0", 2
			formerRef := child.Ref{Kind: child.ControllerRevision, Namespace: "shop", Name: "web-0"}
			snapshot.Children[formerRef] = former
			snapshot.Application.Status.Revision = &v1.RevisionStatus{Current: 3, LastHealthy: 3}
			test.happen(snapshot)
			steps := computeFrom(t, plan.Input{Snapshot: snapshot, Kept: map[child.Ref]bool{formerRef: true}})
			got := step(t, steps, ref(child.Deployment))
			if got.Action != plan.Apply || got.Undone != test.undone || got.Drift != test.drift {
				t.Errorf("the step is %+v", got)
			}
			const want = "another client, such as kubectl rollout undo, put revision 2 back; to go back, set spec.rollback.toRevision: 2 in the Application"
			if (got.Reason == want) != (test.undone > 0) {
				t.Errorf("the reason is %q", got.Reason)
			}
		})
	}
}
