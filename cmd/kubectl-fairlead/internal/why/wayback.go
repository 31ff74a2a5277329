// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/edit"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// wayBack is offered while an earlier revision worked and the failing one is still rolled out.
func (f facts) wayBack() []string {
	revision := f.app.Status.Revision
	if revision == nil || revision.LastHealthy == 0 || revision.LastHealthy == revision.Current || revision.RolledBackFrom != 0 {
		return nil
	}
	if condition := f.condition(v1.ConditionRolledBack); condition != nil && condition.Reason == v1.ReasonRevisionRefused {
		return nil // Its class or the rest of the spec does not allow it any more.
	}
	if !slices.ContainsFunc(edit.History(f.Objects), func(r edit.Revision) bool { return r.LastHealthy }) {
		return nil // It is gone.
	}
	return []string{fmt.Sprintf("Or go back to revision %d, the last one that was healthy: kubectl fairlead undo %s --to-revision=%[1]d", revision.LastHealthy, f.app.Name)}
}

// wayBackFromRefusal is offered while a refused change of the pods is all that keeps the Deployment from being as it is: its pods are those
// of a revision that was accepted.
func (f facts) wayBackFromRefusal() []string {
	deployment := child.Get[*appsv1.Deployment](f.Snapshot(), child.Deployment, f.app.Name)
	if deployment == nil || !child.OwnedBy(deployment, f.app) || f.app.Status.Revision == nil {
		return nil
	}
	revisions := edit.History(f.Objects)
	i := slices.IndexFunc(revisions, func(r edit.Revision) bool { return r.Current })
	if i < 0 {
		return nil
	}
	restored := f.app.DeepCopy()
	if _, err := edit.Undo(revisions[i], f.Children, false)(restored); err != nil || equality.Semantic.DeepEqual(restored.Spec, f.app.Spec) {
		return nil // Something else than the pods was refused.
	}
	if f.app.Status.Class != nil && restored.Spec.Image == f.app.Spec.Image {
		return nil // Restored is also what the pods got from the class, so the difference may mean nothing.
	}
	return []string{fmt.Sprintf("Or go back to revision %d, which was accepted and still runs: kubectl fairlead undo %s --to-revision=%[1]d", revisions[i].Number, f.app.Name)}
}
