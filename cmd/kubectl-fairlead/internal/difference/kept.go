// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/managers"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/preview"
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
	applied, annotations, err := asApplied(loaded.Snapshot(), desired, deployment)
	if err != nil {
		return 0, err
	}
	var kept int32
	for _, replicaSet := range loaded.ReplicaSets {
		if replicaSet.Status.Replicas == 0 || replicaSet.Annotations[v1.AnnotationRevision] != revision || !metav1.IsControlledBy(replicaSet, deployment) ||
			!maps.Equal(replicaSet.Spec.Template.Annotations, annotations) {
			continue
		}
		former := deployment.DeepCopy()
		former.Spec.Template = replicaSet.Spec.Template
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

// KeptFormer counts the pods whose ReplicaSet has the template of the change, although it names another revision: those that an earlier
// Application left behind. because are the fields by which the template of the change differs from the Deployment's. A field that the
// comparison cannot match counts as a difference.
func KeptFormer(because []preview.Change, loaded *cluster.Loaded) (int32, error) {
	deployment := child.Get[*appsv1.Deployment](loaded.Snapshot(), child.Deployment, loaded.Application.Name)
	if deployment == nil {
		return 0, nil
	}
	var kept int32
	for _, replicaSet := range loaded.ReplicaSets {
		held, isOwn, err := heldIn(replicaSet, deployment)
		if err != nil {
			return 0, err
		}
		if isOwn && len(compose(held, because)) == 0 {
			kept += replicaSet.Status.Replicas
		}
	}
	return kept, nil
}

// asApplied is the rendered Deployment as it is applied, with the annotations that its pod template then has. An apply removes an
// annotation that it leaves out and that is Fairlead's alone. To compare what is rendered with a ReplicaSet does not show that.
func asApplied(around child.Snapshot, desired child.Desired, live *appsv1.Deployment) (child.Desired, map[string]string, error) {
	left := live.DeepCopy()
	maps.DeleteFunc(left.Spec.Template.Annotations, func(key, _ string) bool { return isFairleads(live, key) })
	desired, err := plan.KeepLive(around, desired, live)
	if err != nil {
		return child.Desired{}, nil, err
	}
	object, err := desired.Object()
	if err != nil {
		return child.Desired{}, nil, err
	}
	annotations, _, err := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "annotations")
	if err != nil {
		return child.Desired{}, nil, fmt.Errorf("read rendered %s: %w", desired.Ref, err)
	}
	after := maps.Clone(left.Spec.Template.Annotations)
	if after == nil {
		after = map[string]string{}
	}
	maps.Copy(after, annotations)
	return desired, after, nil
}

// isFairleads reports whether Fairlead set an annotation of the pod template, and no other client did.
func isFairleads(live *appsv1.Deployment, annotation string) bool {
	path := fieldpath.MakePathOrDie("spec", "template", "metadata", "annotations", annotation)
	var found bool
	for _, entry := range live.ManagedFields {
		if !managers.Has(entry, path) {
			continue
		}
		if entry.Manager != apply.FieldManager {
			return false
		}
		found = true
	}
	return found
}
