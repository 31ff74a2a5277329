// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// One edit takes away what the pods refer to: the ConfigMap, and the ServiceAccount.
const (
	withConfig    = "config: {mountPath: /etc/web, data: {a: '1'}}"
	withoutConfig = "serviceAccount: {name: another}"
)

// rolledOut is what is seen of an Application once its Deployment has the new template, and the controllers of
// Kubernetes have acted on it: an old ReplicaSet and a new one.
func rolledOut(t *testing.T) (child.Snapshot, *child.ReplicaSet) {
	t.Helper()
	before := settled(t, application(t, withConfig))
	used := child.ReferencesOf(&live[*appsv1.Deployment](before, child.Deployment).Spec.Template.Spec)
	after := settled(t, application(t, withoutConfig))
	for r, object := range before.Children {
		if _, found := after.Children[r]; !found {
			after.Children[r] = object
		}
	}
	deployment := live[*appsv1.Deployment](after, child.Deployment)
	deployment.Annotations[child.RevisionAnnotation] = "2"
	deployment.Status.ObservedGeneration = deployment.Generation
	replicaSet := func(name, revision string) *child.ReplicaSet {
		return &child.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: name}, Application: "web", Deployment: deployment.UID, Revision: revision}
	}
	before1, after2 := replicaSet("web-1", "1"), replicaSet("web-2", "2")
	before1.References, after2.References = used, child.ReferencesOf(&deployment.Spec.Template.Spec)
	after2.HasPods = true
	after.ReplicaSets = []*child.ReplicaSet{before1, after2}
	return after, before1
}

// What pods refer to is deleted only once no pod of before can come back.
func TestWhatPodsUseIsNotDeleted(t *testing.T) {
	waiting := func(why string) []string {
		return []string{"WaitDependency ConfigMap shop/web-config: " + why, "WaitDependency ServiceAccount shop/web: " + why}
	}
	for _, test := range []struct {
		name   string
		change func(child.Snapshot, *child.ReplicaSet)
		want   []string
	}{
		{
			"nothing uses it any more", func(child.Snapshot, *child.ReplicaSet) {},
			[]string{"Delete ConfigMap shop/web-config: the Application no longer needs it", "Delete ServiceAccount shop/web: the Application no longer needs it"},
		},
		{
			"the old pods still run", func(_ child.Snapshot, old *child.ReplicaSet) { old.HasPods = true },
			waiting("ReplicaSet web-1 still uses it"),
		},
		{
			"the rollout is paused: the old ReplicaSet is still the current one",
			func(s child.Snapshot, _ *child.ReplicaSet) {
				live[*appsv1.Deployment](s, child.Deployment).Annotations[child.RevisionAnnotation] = "1"
			},
			waiting("ReplicaSet web-1 still uses it"),
		},
		{
			"pods without their Deployment",
			func(_ child.Snapshot, old *child.ReplicaSet) { old.HasPods, old.Deployment = true, "" },
			waiting("ReplicaSet web-1 still uses it"),
		},
		{
			"Kubernetes has not acted on the template",
			func(s child.Snapshot, _ *child.ReplicaSet) {
				live[*appsv1.Deployment](s, child.Deployment).Generation++
			},
			waiting("the Deployment has just changed, and its ReplicaSets are not up to date yet"),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot, old := rolledOut(t)
			test.change(snapshot, old)
			wantSteps(t, compute(t, snapshot), test.want...)
		})
	}
}

// The edit itself deletes nothing, whether the Deployment can follow or not.
func TestTheLiveTemplateCounts(t *testing.T) {
	for name, in := range map[string]plan.Input{
		"the Deployment is changed":   {},
		"the Deployment waits":        {Missing: missing},
		"the Deployment is contended": {InBackoff: map[child.Ref]bool{ref(child.Deployment): true}},
	} {
		t.Run(name, func(t *testing.T) {
			in.Snapshot = settled(t, application(t, withConfig))
			in.Snapshot.Application = application(t, withoutConfig)
			for _, s := range computeFrom(t, in) {
				if s.Action == plan.Delete || s.Desired == nil && s.Reason != "the Deployment's pod template still uses it" {
					t.Errorf("%s %s: %s", s.Action, s.Ref, s.Reason)
				}
			}
		})
	}
}

// What pods do not refer to is not kept for them.
func TestWhatNoPodUsesIsDeleted(t *testing.T) {
	snapshot, old := rolledOut(t)
	old.HasPods, old.References = true, "web\nother"
	wantSteps(t, compute(t, snapshot),
		"Delete ConfigMap shop/web-config: the Application no longer needs it",
		"WaitDependency ServiceAccount shop/web: ReplicaSet web-1 still uses it")
}
