// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestPinned names spec.rollback.toRevision as the cause of what runs, and advises a command that goes back to another revision.
func TestPinned(t *testing.T) {
	loaded := clustertest.Load(t, "crash")
	application := loaded.Application
	application.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(2))}
	application.Status.Revision = &v1.RevisionStatus{Current: 2, LastHealthy: 1}
	meta.RemoveStatusCondition(&application.Status.Conditions, v1.ConditionRolledBack)
	application.Status.Problems = []v1.Problem{{Reason: v1.ReasonCrashLooping, Container: "web", Pods: 1}}
	found := why.Explain(loaded).Findings
	if len(found) != 2 {
		t.Fatalf("%+v, want the cause and the problem", found)
	}
	const what = "Revision 2 runs, because spec.rollback.toRevision names it, whatever else the spec says about the pods."
	const remove = `Once the spec is right, remove the field, so that the pods of the spec run: kubectl patch applications.apps.fairlead.dev web --type=merge --patch '{"spec":{"rollback":{"toRevision":null}}}'`
	if found[0].What != what || !slices.Equal(found[0].Next, []string{remove}) {
		t.Errorf("%+v, want %q and %q", found[0], what, remove)
	}
	const back = "Or go back to revision 1, the last one that was healthy: kubectl fairlead undo web --to-revision=1"
	if next := found[1].Next; next[len(next)-1] != back {
		t.Errorf("%q, want %q at the end", next, back)
	}
	loaded.Children = slices.DeleteFunc(loaded.Children, func(object child.Object) bool {
		return object.GetObjectKind().GroupVersionKind().Kind == child.ControllerRevision.Kind
	})
	if next := why.Explain(loaded).Findings[1].Next; slices.Contains(next, back) {
		t.Errorf("%q, although revision 1 is gone", next)
	}
	ready := meta.FindStatusCondition(application.Status.Conditions, v1.ConditionReady)
	was := ready.Reason
	ready.Reason = v1.ReasonPaused
	if first := why.Explain(loaded).Findings[0]; first.What == what {
		t.Error("the rollout is paused, and revision 2 is said to run")
	}
	ready.Reason = was
	setResource(loaded, child.Deployment.Kind, v1.ResourceDrifted, "It differs in .spec.template.")
	if first := why.Explain(loaded).Findings[0]; first.What == what {
		t.Error("another client changed the pods, and revision 2 is said to run")
	}
}
