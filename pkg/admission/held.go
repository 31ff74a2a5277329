// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/revision"
)

// held warns of a change that Fairlead does not carry out, because a switch of the spec holds it back. Ready says nothing of it: with Suspend
// it is of the time before, and with Observe it is about the pods that run. A manifest of an adoption may set the switch again.
func held(_ context.Context, in input, found *verdict) error {
	if len(found.errs) > 0 || in.old == nil {
		return nil
	}
	was, is := &in.old.Spec, &in.new.Spec
	if is.ReconcilePolicy.Withholds() && !sameChildren(was, is) {
		found.warnings = append(found.warnings, fmt.Sprintf(
			"spec.reconcilePolicy: it is %s, so %s has no effect until you set it to %s", is.ReconcilePolicy, changeOf(was, is), v1.ReconcileEnforce))
	}
	if paused(is) && (!revision.SamePods(was, is) || toRevision(in.old) != toRevision(in.new)) {
		found.warnings = append(found.warnings, pausedWarning(in.old, in.new))
	}
	return nil
}

// pausedWarning says what becomes of a change of the pods during a pause. The ConfigMap of config has one name for all revisions, and a
// kubelet writes a changed one into the directories of running pods, so its files do not wait. Nor does the end of a rollback. A rollout that
// the pause has stopped half-way has more pods than are asked for: Kubernetes scales the other ReplicaSets of a paused Deployment to 0 once the
// present one has all the pods, and they are available.
func pausedWarning(old, changed *v1.Application) string {
	was, is := old.Spec.Config, changed.Spec.Config
	endsRollback := old.IsRolledBack() && !changed.Spec.ReconcilePolicy.Withholds()
	if is != nil && !changed.Spec.ReconcilePolicy.Withholds() {
		const files = "spec.paused: the rollout waits until you set it to false, but ConfigMap %s changes at once%s, and running pods see its new files within about a minute"
		if toRevision(changed) != toRevision(old) || endsRollback { // The files of another revision are not known here, nor are those that run.
			return fmt.Sprintf(files, render.ConfigMapName(changed), " if the pods to come have other files")
		}
		if toRevision(changed) == 0 && was != nil && !maps.Equal(was.Data, is.Data) {
			return fmt.Sprintf(files, render.ConfigMapName(changed), "")
		}
	}
	if endsRollback {
		return "spec.paused: this change of the pods ends the rollback, but no pod is replaced until you set it to false"
	}
	if status := &old.Status; status.Replicas > status.DesiredReplicas && !changed.Spec.ReconcilePolicy.Withholds() {
		return "spec.paused: no pod starts for this change before you set it to false. If the change takes back the rollout that has begun, " +
			"Kubernetes stops the pods of that rollout nevertheless, once enough others are available"
	}
	return "spec.paused: the pods stay as they are, so this change of the pods has no effect until you set it to false"
}

func paused(spec *v1.ApplicationSpec) bool { return spec.Paused != nil && *spec.Paused }

// changeOf says what an update changes.
func changeOf(was, is *v1.ApplicationSpec) string {
	if revision.SamePods(was, is) {
		return "this change"
	}
	return "this change of the pods"
}

// sameChildren reports whether two specs ask for the same children. The switches ask for none, and what adoptionPolicy would do is in
// status at once.
func sameChildren(was, is *v1.ApplicationSpec) bool {
	without := func(spec *v1.ApplicationSpec) v1.ApplicationSpec {
		rest := *spec
		rest.Paused, rest.ReconcilePolicy, rest.DeletionPolicy, rest.AdoptionPolicy = nil, "", "", ""
		return rest
	}
	return equality.Semantic.DeepEqual(without(was), without(is))
}
