// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"bytes"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/tree"
)

// loseDeployment takes back what status says of a Deployment that is gone.
func (s *Summary) loseDeployment(loaded *cluster.Loaded) {
	s.Health, s.Ready, s.Stalled, s.Since, s.reasonSince = tree.Degraded, false, false, nil, nil
	s.Reason, s.Message = v1.ReasonDeploymentNotFound, why.LostDeployment(loaded)
	s.losePods(loaded)
}

// losePods takes back what status says of pods that no Deployment replaces.
func (s *Summary) losePods(loaded *cluster.Loaded) {
	s.Rollout.Updated, s.Rollout.Available, s.Rollout.withoutDeployment = 0, 0, true
	if s.orphaned = why.OrphanedPods(loaded); s.orphaned == 0 && loaded.Unreadable["pods"] == nil {
		s.RunningImage = ""
	}
}

// follow reads what runs from the Deployment. The status of a suspended Application is that of before, and Kubernetes goes on with a
// rollout.
func (s *Summary) follow(loaded *cluster.Loaded) {
	application := loaded.Application
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, application.Name)
	if deployment == nil || !child.OwnedBy(deployment, application) || deployment.Status.ObservedGeneration < deployment.Generation {
		return
	}
	live := deployment.Status
	s.Rollout.Desired, s.Rollout.Updated, s.Rollout.Available = 1, live.UpdatedReplicas, live.AvailableReplicas
	if asked := deployment.Spec.Replicas; asked != nil {
		s.Rollout.Desired = *asked
	}
	if live.Replicas == 0 || live.UpdatedReplicas < live.Replicas || s.RunningImage == "" && live.AvailableReplicas < s.Rollout.Desired {
		return
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == application.Name {
			s.RunningImage = container.Image
		}
	}
}

// changedByOthers reports whether the Deployment may not run the revision of status any more: it is gone, or another client has written
// fields of its pods since Fairlead did. Under Suspend, the controller notices neither.
func changedByOthers(loaded *cluster.Loaded) bool {
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
	if deployment == nil {
		return loaded.Unreadable[child.Deployment.Resource] == nil
	}
	if !child.OwnedBy(deployment, loaded.Application) {
		return true
	}
	var written time.Time
	for _, entry := range deployment.ManagedFields {
		if entry.Manager == apply.FieldManager && entry.Subresource == "" && entry.Time != nil && entry.Time.After(written) {
			written = entry.Time.Time
		}
	}
	template := fieldpath.MakePathOrDie("spec", "template")
	return slices.ContainsFunc(deployment.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		if entry.Manager == apply.FieldManager || entry.Subresource != "" || entry.FieldsV1 == nil || entry.Time != nil && entry.Time.Time.Before(written) {
			return false
		}
		set := &fieldpath.Set{}
		return set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil || !set.WithPrefix(template[0]).WithPrefix(template[1]).Empty()
	})
}
