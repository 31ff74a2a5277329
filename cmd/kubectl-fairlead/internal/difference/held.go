// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
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
	var held []preview.Change
	for _, replicaSet := range loaded.ReplicaSets {
		if replicaSet.Status.Replicas == 0 || !metav1.IsControlledBy(replicaSet, deployment) {
			continue
		}
		former := replicaSet.Spec.Template.DeepCopy()
		delete(former.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		changes, err := preview.Changes(former, &deployment.Spec.Template)
		if err != nil {
			return nil, err
		}
		for _, change := range preview.ByKey(changes) {
			change.Path = ".spec.template" + change.Path
			if !slices.ContainsFunc(held, func(known preview.Change) bool { return known.Path == change.Path }) {
				held = append(held, change)
			}
		}
	}
	return held, nil
}
