// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/pkg/child"
)

// useBy names the pods that need a ServiceAccount or ConfigMap that is no longer rendered; "" if none do. Pods may need it
// long after the spec dropped it: while a rollout is paused, withheld, denied or failing, the former pods continue. If one
// is lost, Kubernetes can replace it only while what it refers to exists.
//
// A ReplicaSet without pods does not count, although kubectl rollout undo could scale it up: it
// changes the Deployment's template, which Fairlead changes back. The current ReplicaSet counts even
// without pods. While a rollout is paused, the Deployment scales that one, whatever its own template says.
func useBy(snapshot child.Snapshot, ref child.Ref) string {
	if ref.Kind != child.ServiceAccount && ref.Kind != child.ConfigMap {
		return ""
	}
	deployment := child.Get[*appsv1.Deployment](snapshot, child.Deployment, snapshot.Application.Name)
	if deployment != nil && child.ReferencesOf(&deployment.Spec.Template.Spec).Has(ref) {
		return "the Deployment's pod template still uses it"
	}
	if deployment != nil && deployment.Status.ObservedGeneration < deployment.Generation {
		return "the Deployment has just changed, and its ReplicaSets are not up to date yet"
	}
	for _, replicaSet := range snapshot.ReplicaSets {
		if (replicaSet.HasPods || isCurrent(replicaSet, deployment)) && replicaSet.References.Has(ref) {
			return "ReplicaSet " + replicaSet.Name + " still uses it"
		}
	}
	return ""
}

// isCurrent reports whether the ReplicaSet is the one that the Deployment scales now.
func isCurrent(replicaSet *child.ReplicaSet, deployment *appsv1.Deployment) bool {
	return deployment != nil && replicaSet.Deployment == deployment.UID &&
		replicaSet.Revision == deployment.Annotations[child.RevisionAnnotation]
}
