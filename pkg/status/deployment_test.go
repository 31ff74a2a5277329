// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/plan"
)

// A write of the Deployment makes its live status obsolete only if its spec changed.
func TestChangesPods(t *testing.T) {
	tests := []struct {
		name   string
		action plan.Action
		// generation is that after the write; the live one's is 4.
		generation int64
		want       bool
	}{
		{"keep", plan.Keep, 0, false},
		{"hold", plan.Backoff, 0, false},
		{"create", plan.Create, 1, true},
		{"the spec changed", plan.Apply, 5, true},
		{"only metadata changed", plan.Apply, 4, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			step := plan.Step{Action: test.action}
			if test.action != plan.Create {
				step.Live = newDeployment()
			}
			if got := changesPods(plan.Result{Step: step, Generation: test.generation}); got != test.want {
				t.Errorf("changesPods = %v, want %v", got, test.want)
			}
		})
	}
}

// onlyObserved lets the sync find no Deployment, and create none.
func onlyObserved(in *Input) {
	in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	in.Results[0] = result(plan.Create, child.Deployment, "web", nil)
	delete(in.Snapshot.Children, in.Results[0].Ref)
}

// refusedWithout lets the class refuse the spec after the Deployment was deleted.
func refusedWithout(in *Input) {
	in.Results, in.InvalidReason = nil, v1.ReasonClassLimitExceeded
	in.Invalid = field.ErrorList{field.Invalid(field.NewPath("spec", "replicas"), 3, "more than the class allows")}
	delete(in.Snapshot.Children, ref(child.Deployment, "web"))
}

func TestCounts(t *testing.T) {
	written := func(action plan.Action) func(*Input, *appsv1.Deployment) {
		return func(in *Input, d *appsv1.Deployment) { in.Results[0].Action = action; d.Spec.Replicas = new(int32(2)) }
	}
	type numbers struct{ desired, all, updated, ready, available int32 }
	tests := []struct {
		name   string
		change func(*Input, *appsv1.Deployment)
		want   numbers
	}{
		{"as the Deployment says", func(_ *Input, d *appsv1.Deployment) {
			d.Spec.Replicas = new(int32(5))
			d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas = 4, 3, 2, 1
		}, numbers{5, 4, 3, 2, 1}},
		{"one by default", func(_ *Input, d *appsv1.Deployment) { d.Spec.Replicas = nil }, numbers{1, 3, 3, 3, 3}},
		{"asked for anew in this sync", written(plan.Apply), numbers{3, 3, 3, 3, 3}},
		{"not written", written(plan.Keep), numbers{2, 3, 3, 3, 3}},
		{"failed to be written", func(in *Input, d *appsv1.Deployment) { written(plan.Apply)(in, d); in.Results[0].Err = errOther }, numbers{2, 3, 3, 3, 3}},
		{"handed over", func(in *Input, d *appsv1.Deployment) {
			written(plan.Apply)(in, d)
			in.Results[0].HandOver = new(int32(6))
		}, numbers{6, 3, 3, 3, 3}},
		{"left to others", func(in *Input, d *appsv1.Deployment) { written(plan.Apply)(in, d); in.Results[0].Desired = nil }, numbers{2, 3, 3, 3, 3}},
		{"created", func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = result(plan.Create, child.Deployment, "web", nil)
			delete(in.Snapshot.Children, in.Results[0].Ref)
		}, numbers{desired: 3}},
		{"created without a number", func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = result(plan.Create, child.Deployment, "web", nil)
			in.Results[0].Desired, in.Snapshot.Application.Spec.Replicas = nil, nil
			delete(in.Snapshot.Children, in.Results[0].Ref)
		}, numbers{desired: 1}},
		{"waiting for a Secret", func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = result(plan.WaitDependency, child.Deployment, "web", nil)
			delete(in.Snapshot.Children, in.Results[0].Ref)
		}, numbers{desired: 3}},
		{"none, and only observed", func(in *Input, _ *appsv1.Deployment) { onlyObserved(in) }, numbers{desired: 3}},
		{"none, and refused", func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = result(plan.Create, child.Deployment, "web", nil)
			in.Results[0].Err = errOther
			delete(in.Snapshot.Children, in.Results[0].Ref)
		}, numbers{desired: 3}},
		{"none, while the spec is refused", func(in *Input, _ *appsv1.Deployment) { refusedWithout(in) }, numbers{desired: 3}},
		{"none, while the spec is refused, and without a number", func(in *Input, _ *appsv1.Deployment) {
			refusedWithout(in)
			in.Snapshot.Application.Spec.Replicas = nil
		}, numbers{desired: 1}},
		{"none, while the spec is refused, and with an autoscaler", func(in *Input, _ *appsv1.Deployment) {
			refusedWithout(in)
			in.Snapshot.Application.Spec.Replicas = nil
			in.Snapshot.Application.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: new(int32(2)), MaxReplicas: 5}
		}, numbers{desired: 2}},
		{"none, while the spec is refused, and at 0", func(in *Input, _ *appsv1.Deployment) {
			refusedWithout(in)
			in.Snapshot.Application.Spec.Replicas = new(int32(0))
		}, numbers{}},
		{"none, while the spec is refused, and with an autoscaler at 0", func(in *Input, _ *appsv1.Deployment) {
			refusedWithout(in)
			in.Snapshot.Application.Spec.Replicas = nil
			in.Snapshot.Application.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: new(int32(0)), MaxReplicas: 0}
		}, numbers{}},
		{"none, while the Application is being deleted", func(in *Input, _ *appsv1.Deployment) {
			refusedWithout(in)
			in.Snapshot.Application.DeletionTimestamp = new(metav1.NewTime(noon))
		}, numbers{}},
		{"some, while the spec is refused", func(in *Input, d *appsv1.Deployment) {
			in.Results, in.Invalid = nil, field.ErrorList{field.Invalid(field.NewPath("spec"), "x", "refused")}
			d.Spec.Replicas = new(int32(2))
		}, numbers{2, 3, 3, 3, 3}},
		{"waiting for a Secret without a number", func(in *Input, _ *appsv1.Deployment) {
			in.Results[0] = result(plan.WaitDependency, child.Deployment, "web", nil)
			in.Results[0].Desired, in.Snapshot.Application.Spec.Replicas = nil, nil
			delete(in.Snapshot.Children, in.Results[0].Ref)
		}, numbers{desired: 1}},
		{"a foreign one's are not counted", func(in *Input, _ *appsv1.Deployment) { in.Results[0].Action = plan.NotOwned }, numbers{}},
		{"not planned: by ownerReference", func(in *Input, _ *appsv1.Deployment) { in.Results = nil }, numbers{3, 3, 3, 3, 3}},
		{"not planned: a foreign one's", func(in *Input, d *appsv1.Deployment) { in.Results = nil; d.OwnerReferences = nil }, numbers{}},
		{"not planned: known by UID", func(in *Input, d *appsv1.Deployment) {
			in.Results, d.OwnerReferences = nil, nil
			in.Snapshot.Application.Status.Resources = []v1.ResourceStatus{{Group: "apps", Kind: "Deployment", Name: "web", UID: deploymentUID}}
		}, numbers{3, 3, 3, 3, 3}},
		{"not planned: taken over by others", func(in *Input, d *appsv1.Deployment) {
			in.Results, d.OwnerReferences = nil, controllerRef("Application", "web", "another-uid")
			in.Snapshot.Application.Status.Resources = []v1.ResourceStatus{{Group: "apps", Kind: "Deployment", Name: "web", UID: deploymentUID}}
		}, numbers{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := compute(with(test.change), noon)
			got := numbers{s.DesiredReplicas, s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestMirroredConditions(t *testing.T) {
	type says = struct {
		status metav1.ConditionStatus
		reason string
	}
	tests := []struct {
		name                   string
		change                 func(*Input, *appsv1.Deployment)
		available, progressing says
	}{
		{"as the Deployment says", func(_ *Input, d *appsv1.Deployment) { timedOut(d) },
			says{"True", "MinimumReplicasAvailable"}, says{"False", "ProgressDeadlineExceeded"}},
		{"nothing said yet", func(_ *Input, d *appsv1.Deployment) { d.Status.Conditions = nil },
			says{"Unknown", v1.ReasonUnknown}, says{"Unknown", v1.ReasonUnknown}},
		{"no reason given", func(_ *Input, d *appsv1.Deployment) { d.Status.Conditions[0].Reason = "" },
			says{"True", v1.ReasonUnknown}, says{"True", "NewReplicaSetAvailable"}},
		{"a reason that the API server would refuse", func(_ *Input, d *appsv1.Deployment) { d.Status.Conditions[0].Reason = "not one word" },
			says{"True", v1.ReasonUnknown}, says{"True", "NewReplicaSetAvailable"}},
		{"said of the last revision", func(in *Input, d *appsv1.Deployment) { timedOut(d); in.Results[0].Action = plan.Apply },
			says{"True", "MinimumReplicasAvailable"}, says{"True", v1.ReasonRollingOut}},
		{"said of the last generation", func(_ *Input, d *appsv1.Deployment) { timedOut(d); d.Generation++ },
			says{"True", "MinimumReplicasAvailable"}, says{"True", v1.ReasonRollingOut}},
		{"foreign", func(in *Input, _ *appsv1.Deployment) { in.Results[0].Action = plan.NotOwned },
			says{"False", v1.ReasonDeploymentNotFound}, says{"Unknown", v1.ReasonDeploymentNotFound}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			conditions := compute(with(test.change), noon).Conditions
			for kind, want := range map[string]says{v1.ConditionAvailable: test.available, v1.ConditionProgressing: test.progressing} {
				got := apimeta.FindStatusCondition(conditions, kind)
				if got == nil || got.Status != want.status || got.Reason != want.reason {
					t.Errorf("%s = %+v, want %+v", kind, got, want)
				}
			}
		})
	}
}

// TestForeignDeploymentInConditions: the reason of the plan is a sentence there.
func TestForeignDeploymentInConditions(t *testing.T) {
	conditions := compute(with(func(in *Input, _ *appsv1.Deployment) {
		in.Results[0].Action, in.Results[0].Reason = plan.NotOwned, "it refers to ServiceAccount web, which does not belong to the Application"
	}), noon).Conditions
	const want = "It refers to ServiceAccount web, which does not belong to the Application."
	for _, kind := range []string{v1.ConditionAvailable, v1.ConditionProgressing} {
		if got := apimeta.FindStatusCondition(conditions, kind); got == nil || got.Message != want {
			t.Errorf("%s = %+v, want %q", kind, got, want)
		}
	}
}

func TestCountsInWords(t *testing.T) {
	tests := []struct {
		desired, all, updated, available int32
		want                             string
	}{
		{3, 3, 3, 2, "All 3 pods are updated, 2 available."},
		{3, 4, 1, 3, "1 of 3 pods are updated, 3 available; 3 of an older revision."},
		{1, 1, 1, 0, "1 pod is updated, 0 available."},
		{1, 1, 0, 1, "0 of 1 pods are updated, 1 available; 1 of an older revision."},
		{2, 3, 3, 2, "3 pods (2 desired) are updated, 2 available."},
		{0, 1, 1, 0, "1 pod (0 desired) is updated, 0 available."},
		{1, 3, 3, 0, "3 pods (1 desired) are updated, 0 available."},
	}
	for _, test := range tests {
		d := &appsv1.Deployment{}
		counts(d, test.all, test.updated, test.available)
		p := pods{Rollout: health.Rollout{Deployment: d, Status: d.Status, Desired: test.desired}}
		if got := p.counts(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Pods that are ready and do not count yet have their reason: without it, nothing seems to be wrong with them.
func TestNotYetAvailable(t *testing.T) {
	const (
		one = "All 3 pods are updated, 2 available. 1 is ready, and counts as available once it has been ready for 30 s (minReadySeconds)."
		two = "1 of 3 pods are available. 2 are ready, and count as available once they have been ready for 30 s (minReadySeconds)."
	)
	young := func(n, seconds int32) func(*Input, *appsv1.Deployment) {
		return func(_ *Input, d *appsv1.Deployment) {
			d.Spec.MinReadySeconds = seconds
			d.Status.AvailableReplicas -= n
		}
	}
	during := func(change func(*Input, *appsv1.Deployment)) func(*Input, *appsv1.Deployment) {
		return func(in *Input, d *appsv1.Deployment) {
			says(d, appsv1.DeploymentProgressing, corev1.ConditionTrue, "ReplicaSetUpdated", `ReplicaSet "web-2" is progressing.`)
			change(in, d)
		}
	}
	for _, test := range []struct {
		name   string
		change func(*Input, *appsv1.Deployment)
		want   string
	}{
		{"in a rollout", during(young(1, 30)), one},
		{"after a rollout", young(2, 30), two},
		{"a moment", during(young(1, 0)), "All 3 pods are updated, 2 available."},
		{"a pod that is not ready", during(func(in *Input, d *appsv1.Deployment) { young(1, 30)(in, d); d.Status.ReadyReplicas-- }), "All 3 pods are updated, 2 available."},
	} {
		if ready := apimeta.FindStatusCondition(compute(with(test.change), noon).Conditions, v1.ConditionReady); ready.Message != test.want {
			t.Errorf("%s: %q, want %q", test.name, ready.Message, test.want)
		}
	}
}

// A false ReplicaFailure is none.
func TestReplicaFailureOver(t *testing.T) {
	in := with(func(_ *Input, d *appsv1.Deployment) {
		rollingOut(d)
		says(d, appsv1.DeploymentReplicaFailure, corev1.ConditionFalse, "FailedCreate", "exceeded quota: small")
	})
	ready := apimeta.FindStatusCondition(compute(in, noon).Conditions, v1.ConditionReady)
	if ready.Reason != v1.ReasonRollingOut {
		t.Errorf("Ready = %+v", ready)
	}
}
