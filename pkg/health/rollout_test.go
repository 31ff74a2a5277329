// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

const (
	deploymentUID = types.UID("deployment")
	currentUID    = types.UID("current-replicaset")
	formerUID     = types.UID("former-replicaset")
)

func noon() time.Time { return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC) }

// at is a time so many seconds after noon.
func at(seconds int) metav1.Time {
	return metav1.NewTime(noon().Add(time.Duration(seconds) * time.Second))
}

// rolledOut is a snapshot of an Application whose Deployment has three pods of its second revision, all available.
func rolledOut() (child.Snapshot, *appsv1.Deployment) {
	application := &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web-uid"}}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: deploymentUID, Generation: 4,
			Annotations:     map[string]string{child.RevisionAnnotation: "2"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(application, v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))},
		},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 4, Replicas: 3, UpdatedReplicas: 3, AvailableReplicas: 3,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: child.ReasonRolledOut}},
		},
	}
	return child.Snapshot{
		Application: application,
		Children:    map[child.Ref]child.Object{{Kind: child.Deployment, Namespace: "shop", Name: "web"}: deployment},
		ReplicaSets: []*child.ReplicaSet{
			{ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: formerUID}, Deployment: deploymentUID, Revision: "1"},
			{ObjectMeta: metav1.ObjectMeta{Name: "web-2", UID: currentUID}, Deployment: deploymentUID, Revision: "2"},
			{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "foreign"}, Deployment: "another", Revision: "2"},
		},
	}, deployment
}

// missedDeadline sets the condition of a rollout that made no progress until its deadline.
func missedDeadline(d *appsv1.Deployment) {
	d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 2
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: ReasonTimedOut, Message: `ReplicaSet "web-2" has timed out progressing.`,
	}}
}

// missedDeadlineAt is missedDeadline so many seconds after noon, of a rollout that had 30 seconds.
func missedDeadlineAt(d *appsv1.Deployment, seconds int) {
	missedDeadline(d)
	d.Status.Conditions[0].LastUpdateTime, d.Spec.ProgressDeadlineSeconds = at(seconds), new(int32(30))
}

// refuseReplicaSet has the API server refuse the ReplicaSet of a new rollout.
func refuseReplicaSet(d *appsv1.Deployment) {
	d.Generation++
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: child.ReasonReplicaSetCreateError,
		Message: `Failed to create new replica set "web-3": replicasets.apps "web-3" is forbidden: exceeded quota: sets, requested: count/replicasets.apps=1, ` +
			`used: count/replicasets.apps=1, limited: count/replicasets.apps=1`,
	}}
}

func TestAssess(t *testing.T) {
	complete := Rollout{Desired: 3, Observed: true, Complete: true}
	tests := []struct {
		name   string
		change func(s *child.Snapshot, d *appsv1.Deployment)
		want   Rollout
	}{
		{"all pods are available", func(*child.Snapshot, *appsv1.Deployment) {}, complete},
		{"no Deployment", func(s *child.Snapshot, _ *appsv1.Deployment) { s.Children = nil }, Rollout{}},
		{"the Deployment has another owner", func(_ *child.Snapshot, d *appsv1.Deployment) { d.OwnerReferences[0].UID = "other" }, Rollout{}},
		{"no owner, and not known by its UID", func(_ *child.Snapshot, d *appsv1.Deployment) { d.OwnerReferences = nil }, Rollout{}},
		{"no owner, but known by its UID", func(s *child.Snapshot, d *appsv1.Deployment) {
			d.OwnerReferences = nil
			s.Application.Status.Resources = []v1.ResourceStatus{{Group: "apps", Kind: "Deployment", Name: "web", UID: deploymentUID}}
		}, complete},
		{"Kubernetes has not observed the newest Deployment", func(_ *child.Snapshot, d *appsv1.Deployment) { d.Generation++ }, Rollout{Desired: 3}},
		{"nor another annotation, but the spec is the same", func(s *child.Snapshot, d *appsv1.Deployment) {
			d.Generation, s.SameSpecSince = 6, 4
		}, complete},
		{"it has observed the spec before", func(s *child.Snapshot, d *appsv1.Deployment) {
			d.Generation, s.SameSpecSince = 6, 5
		}, Rollout{Desired: 3}},
		{"its ReplicaSet is refused", func(_ *child.Snapshot, d *appsv1.Deployment) { refuseReplicaSet(d) }, Rollout{
			Desired: 3, Observed: true, Uncreated: true,
			Problems: []v1.Problem{{Reason: v1.ReasonQuotaExceeded, Message: "ReplicaSet web-3: exceeded quota: sets, requested: count/replicasets.apps=1, used: count/replicasets.apps=1, limited: count/replicasets.apps=1"}},
		}},
		{"its ReplicaSet is refused, and it was scaled meanwhile", func(_ *child.Snapshot, d *appsv1.Deployment) {
			refuseReplicaSet(d)
			d.Status.ObservedGeneration, d.Status.UpdatedReplicas = d.Generation, 0
		}, Rollout{
			Desired: 3, Observed: true, Uncreated: true,
			Problems: []v1.Problem{{Reason: v1.ReasonQuotaExceeded, Message: "ReplicaSet web-3: exceeded quota: sets, requested: count/replicasets.apps=1, used: count/replicasets.apps=1, limited: count/replicasets.apps=1"}},
		}},
		{"its ReplicaSet was refused", func(_ *child.Snapshot, d *appsv1.Deployment) { refuseReplicaSet(d); d.Generation-- }, complete},
		{"one is asked for by default", func(_ *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Replicas = nil
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas = 1, 1, 1
		}, Rollout{Desired: 1, Observed: true, Complete: true}},
		{"a pod of the former revision is left", func(_ *child.Snapshot, d *appsv1.Deployment) { d.Status.Replicas++ }, Rollout{Desired: 3, Observed: true}},
		{"a pod is not updated", func(_ *child.Snapshot, d *appsv1.Deployment) { d.Status.UpdatedReplicas-- }, Rollout{Desired: 3, Observed: true}},
		{"a pod is not available", func(_ *child.Snapshot, d *appsv1.Deployment) { d.Status.AvailableReplicas-- }, Rollout{Desired: 3, Observed: true}},
		{"the Deployment is being deleted", func(_ *child.Snapshot, d *appsv1.Deployment) { d.DeletionTimestamp = new(at(0)) }, Rollout{Desired: 3, Observed: true}},
		{"paused in the middle", func(_ *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Paused, d.Status.UpdatedReplicas = true, 1
		}, Rollout{Desired: 3, Observed: true, Paused: true}},
		{"paused before the first pod", func(_ *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Paused, d.Status = true, appsv1.DeploymentStatus{ObservedGeneration: 4}
		}, Rollout{Desired: 3, Observed: true, Paused: true}},
		{"paused with nothing to roll out", func(_ *child.Snapshot, d *appsv1.Deployment) { d.Spec.Paused = true }, complete},
		{"paused while it scales", func(_ *child.Snapshot, d *appsv1.Deployment) {
			d.Spec.Paused, d.Spec.Replicas = true, new(int32(4))
		}, Rollout{Desired: 4, Observed: true}},
		{"the deadline is missed", func(_ *child.Snapshot, d *appsv1.Deployment) { missedDeadline(d) }, Rollout{
			Desired: 3, Observed: true, TimedOut: true,
			Problems: []v1.Problem{{Reason: v1.ReasonProgressDeadlineExceeded, Message: `ReplicaSet "web-2" has timed out progressing.`}},
		}},
		{"the deadline was missed by what Kubernetes has not observed", func(_ *child.Snapshot, d *appsv1.Deployment) {
			missedDeadline(d)
			d.Generation++
		}, Rollout{Desired: 3}},
		{"scaled to 0 after the deadline", func(_ *child.Snapshot, d *appsv1.Deployment) {
			missedDeadline(d)
			d.Spec.Replicas = new(int32(0))
		}, Rollout{Observed: true}},
		{"the Application is being deleted", func(s *child.Snapshot, d *appsv1.Deployment) {
			missedDeadline(d)
			s.Application.DeletionTimestamp = new(at(0))
		}, Rollout{Desired: 3, Observed: true, TimedOut: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			snapshot, deployment := rolledOut()
			test.change(&snapshot, deployment)
			got := Assess(snapshot, noon())
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(Rollout{}, "Deployment", "Status")); diff != "" {
				t.Errorf("the rollout (-want +got):\n%s", diff)
			}
			if known := got.Deployment == deployment; known != (test.want.Observed || test.want.Desired > 0) {
				t.Errorf("the rollout has the Deployment: %t", known)
			}
		})
	}
}

func TestHealthy(t *testing.T) {
	tests := []struct {
		name    string
		rollout Rollout
		want    bool
	}{
		{"complete", Rollout{Desired: 2, Complete: true}, true},
		{"complete without pods", Rollout{Complete: true}, false},
		{"incomplete", Rollout{Desired: 2}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.rollout.Healthy(); got != test.want {
				t.Errorf("healthy: %t, want %t", got, test.want)
			}
		})
	}
}
