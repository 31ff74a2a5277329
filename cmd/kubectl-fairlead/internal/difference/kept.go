// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// Kept counts the pods that have the template of the rendered children already: a rollout away from it has not ended, and a
// former ReplicaSet still has them. It is -1 if the user may not list ReplicaSets.
func Kept(differ plan.Differ, rendered []child.Desired, loaded *cluster.Loaded) (int32, error) {
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
	at := slices.IndexFunc(rendered, func(c child.Desired) bool { return c.Kind == child.Deployment })
	if deployment == nil || at < 0 {
		return 0, nil
	}
	desired := rendered[at]
	object, err := desired.Object()
	if err != nil {
		return 0, err
	}
	revision := object.GetAnnotations()[v1.AnnotationRevision]
	if _, unreadable := loaded.Unreadable["replicasets"]; unreadable {
		isFormer := slices.ContainsFunc(loaded.Children, func(c child.Object) bool { return c.GetName() == revision })
		if isFormer && deployment.Status.UpdatedReplicas < deployment.Status.Replicas {
			return -1, nil
		}
		return 0, nil
	}
	var kept int32
	for _, replicaSet := range loaded.ReplicaSets {
		if replicaSet.Status.Replicas == 0 || replicaSet.Annotations[v1.AnnotationRevision] != revision || !metav1.IsControlledBy(replicaSet, deployment) {
			continue
		}
		former := deployment.DeepCopy()
		former.Spec.Template = replicaSet.Spec.Template
		applied, err := plan.KeepLive(loaded.Application, desired, former)
		if err != nil {
			return 0, err
		}
		difference, err := differ.Compare(applied, former)
		if err != nil {
			return 0, fmt.Errorf("compare with ReplicaSet %s: %w", replicaSet.Name, err)
		}
		if !slices.ContainsFunc(difference.Fields, func(path string) bool { return strings.HasPrefix(path, ".spec.template") }) {
			kept += replicaSet.Status.Replicas
		}
	}
	return kept, nil
}
