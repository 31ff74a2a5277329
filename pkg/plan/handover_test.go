// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

const autoscaling = "autoscaling: {minReplicas: 3, maxReplicas: 9, targetCPUUtilizationPercentage: 80}"

// The Application was settled with one spec and gets another; the live Deployment has a number of
// replicas, which Fairlead set or not.
func TestHandOver(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after string
		replicas      *int32
		action        plan.Action
		handOver      *int32
		reason        string
	}{
		{
			name: "from a fixed number to an autoscaler", before: "replicas: 5", after: autoscaling,
			replicas: new(int32(5)), action: plan.Apply, handOver: new(int32(5)), reason: "the Application changed",
		},
		{
			name: "what others set meanwhile is handed over", before: "replicas: 5", after: autoscaling,
			replicas: new(int32(7)), action: plan.Apply, handOver: new(int32(7)), reason: "the Application changed",
		},
		{
			name: "from a fixed number to nobody", before: "replicas: 5", after: "",
			replicas: new(int32(5)), action: plan.Apply, handOver: new(int32(5)), reason: "the Application changed",
		},
		{
			name: "a fixed 0 to nobody stays 0", before: "replicas: 0", after: "",
			replicas: new(int32(0)), action: plan.Apply, handOver: new(int32(0)), reason: "the Application changed",
		},
		{
			name: "an autoscaler does not wake what is asleep", before: "replicas: 0", after: autoscaling,
			replicas: new(int32(0)), action: plan.Apply, handOver: new(int32(3)), reason: "an autoscaler does not wake a Deployment at 0",
		},
		{
			name: "nor with the default of minReplicas", before: "replicas: 0", after: "autoscaling: {maxReplicas: 9, targetCPUUtilizationPercentage: 80}",
			replicas: new(int32(0)), action: plan.Apply, handOver: new(int32(1)), reason: "an autoscaler does not wake a Deployment at 0",
		},
		{
			name: "nor with minReplicas 0", before: "replicas: 0", after: "autoscaling: {minReplicas: 0, maxReplicas: 9, targetCPUUtilizationPercentage: 80}",
			replicas: new(int32(0)), action: plan.Apply, handOver: new(int32(1)), reason: "an autoscaler does not wake a Deployment at 0",
		},
		{
			name: "what others put to sleep is woken too", before: "", after: autoscaling,
			replicas: new(int32(0)), action: plan.Apply, handOver: new(int32(3)), reason: "an autoscaler does not wake a Deployment at 0",
		},
		{
			name: "from nobody to an autoscaler", before: "", after: autoscaling,
			replicas: new(int32(4)), action: plan.Keep,
		},
		{
			name: "from an autoscaler to a fixed number", before: autoscaling, after: "replicas: 5",
			replicas: new(int32(4)), action: plan.Apply, reason: "the Application changed",
		},
		{
			name: "from an autoscaler to nobody", before: autoscaling, after: "",
			replicas: new(int32(4)), action: plan.Keep,
		},
		{
			name: "one fixed number after another", before: "replicas: 5", after: "replicas: 6",
			replicas: new(int32(5)), action: plan.Apply, reason: "the Application changed",
		},
		{
			name: "a Deployment without a number", before: "replicas: 5", after: autoscaling,
			replicas: nil, action: plan.Apply, reason: "the Application changed",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settled(t, application(t, test.before))
			live[*appsv1.Deployment](snapshot, child.Deployment).Spec.Replicas = test.replicas
			snapshot.Application = application(t, test.after)
			s := step(t, compute(t, snapshot), ref(child.Deployment))
			if s.Action != test.action || s.Reason != test.reason {
				t.Errorf("the step is %s: %q, want %s: %q", s.Action, s.Reason, test.action, test.reason)
			}
			if (s.HandOver == nil) != (test.handOver == nil) || s.HandOver != nil && *s.HandOver != *test.handOver {
				t.Errorf("handed over is %v, want %v", deref(s.HandOver), deref(test.handOver))
			}
		})
	}
}

// Somebody scales an autoscaled Deployment to 0, to stop it. The autoscaler stands still then, and
// so does Fairlead, or nobody could stop anything.
func TestAutoscaledDeploymentThatOthersStopped(t *testing.T) {
	snapshot := settled(t, application(t, autoscaling))
	live[*appsv1.Deployment](snapshot, child.Deployment).Spec.Replicas = new(int32(0))
	wantSteps(t, compute(t, snapshot))
}

// Neither does the autoscaler wake it that is put back because somebody deleted it.
func TestAutoscalerThatOthersDeleted(t *testing.T) {
	snapshot := settled(t, application(t, autoscaling))
	known(snapshot)
	live[*appsv1.Deployment](snapshot, child.Deployment).Spec.Replicas = new(int32(0))
	delete(snapshot.Children, ref(child.HorizontalPodAutoscaler))
	wantSteps(t, compute(t, snapshot), "Create HorizontalPodAutoscaler shop/web: another client deleted it; drift")
}

// A Deployment that was created for an autoscaler starts from a number of Fairlead's. It is handed
// over with the first apply; that alone is no reason for one.
func TestHandOverWaitsForAnApply(t *testing.T) {
	snapshot := settled(t, application(t, autoscaling))
	deployment := live[*appsv1.Deployment](snapshot, child.Deployment)
	deployment.Spec.Replicas = new(int32(6))
	deployment.Annotations[v1.AnnotationReplicasManaged] = "true"
	wantSteps(t, compute(t, snapshot))

	deployment.Spec.Template.Spec.Containers[0].Image = "another"
	s := step(t, compute(t, snapshot), ref(child.Deployment))
	if s.Action != plan.Apply || deref(s.HandOver) != int32(6) {
		t.Errorf("the step is %s, handed over is %v", s.Action, deref(s.HandOver))
	}
}

// A new Deployment starts with what its autoscaler would not go below.
func TestNewDeploymentStartsFromMinReplicas(t *testing.T) {
	snapshot := settled(t, application(t, autoscaling))
	snapshot.Children = nil
	s := step(t, compute(t, snapshot), ref(child.Deployment))
	if s.Action != plan.Create || deref(s.HandOver) != *snapshot.Application.Spec.Autoscaling.MinReplicas {
		t.Errorf("the step is %s, starts from %v", s.Action, deref(s.HandOver))
	}
}

// A Deployment of somebody else is not scaled.
func TestNothingToHandOver(t *testing.T) {
	snapshot := settled(t, application(t, "replicas: 5"))
	live[*appsv1.Deployment](snapshot, child.Deployment).OwnerReferences[0].UID = "other"
	snapshot.Application = application(t, autoscaling)
	if s := step(t, compute(t, snapshot), ref(child.Deployment)); s.Action != plan.NotOwned || s.HandOver != nil {
		t.Errorf("the step is %s, handed over is %v", s.Action, deref(s.HandOver))
	}
}

func deref(number *int32) any {
	if number == nil {
		return nil
	}
	return *number
}
