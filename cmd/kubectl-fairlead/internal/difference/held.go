// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
)

// Held are the fields by which the pod template of a paused Deployment differs from those of its pods: a rollout that goes on
// replaces the pods because of them. There are none if the user may not list ReplicaSets.
func Held(loaded *cluster.Loaded) ([]preview.Change, error) {
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
	if deployment == nil {
		return nil, nil
	}
	templates, err := waiting(loaded, deployment)
	if err != nil {
		return nil, err
	}
	return union(templates), nil
}

// FromPods are the fields by which the pods differ from the template of a change, while rollouts are paused and the pods have not seen
// the earlier changes either. because are those by which it differs from the template before it, and they come first. A field that goes
// back to what the pods have is none.
func FromPods(because []preview.Change, loaded *cluster.Loaded) ([]preview.Change, error) {
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
	if deployment == nil || !deployment.Spec.Paused {
		return because, nil
	}
	templates, err := waiting(loaded, deployment)
	if err != nil {
		return nil, err
	}
	for i, held := range templates {
		templates[i] = compose(held, because)
	}
	if differ := union(templates); len(differ) > 0 {
		return EditedFirst(differ, because), nil
	}
	return because, nil
}

// waiting are, for each ReplicaSet that has pods, the fields by which the template of the Deployment differs from its own.
func waiting(loaded *cluster.Loaded, deployment *appsv1.Deployment) ([][]preview.Change, error) {
	var found [][]preview.Change
	for _, replicaSet := range loaded.ReplicaSets {
		changes, isOwn, err := heldIn(replicaSet, deployment)
		if err != nil {
			return nil, err
		}
		if isOwn {
			found = append(found, changes)
		}
	}
	return found, nil
}

// heldIn are the fields by which the template of the Deployment differs from the one of a ReplicaSet of its own that has pods.
func heldIn(replicaSet *appsv1.ReplicaSet, deployment *appsv1.Deployment) (changes []preview.Change, isOwn bool, err error) {
	if replicaSet.Status.Replicas == 0 || !metav1.IsControlledBy(replicaSet, deployment) {
		return nil, false, nil
	}
	former := replicaSet.Spec.Template.DeepCopy()
	delete(former.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	if changes, err = preview.Changes(former, &deployment.Spec.Template); err != nil {
		return nil, false, err
	}
	changes = preview.ByKey(changes)
	for i := range changes {
		changes[i].Path = ".spec.template" + changes[i].Path
	}
	return changes, true, nil
}

// compose are the fields that differ after both.
func compose(first, then []preview.Change) []preview.Change {
	var composed []preview.Change
	for _, change := range then {
		if at := indexOf(first, change); at >= 0 {
			change.Before = first[at].Before
		}
		if !reflect.DeepEqual(change.Before, change.After) {
			composed = append(composed, change)
		}
	}
	for _, change := range first {
		if indexOf(then, change) < 0 {
			composed = append(composed, change)
		}
	}
	return composed
}

// union are the changes of all, one for each path.
func union(all [][]preview.Change) []preview.Change {
	var found []preview.Change
	for _, change := range slices.Concat(all...) {
		if indexOf(found, change) < 0 {
			found = append(found, change)
		}
	}
	return found
}

// indexOf is the index of the change of the same field; -1 if there is none.
func indexOf(changes []preview.Change, of preview.Change) int {
	return slices.IndexFunc(changes, func(change preview.Change) bool { return pathOf(change) == pathOf(of) })
}
