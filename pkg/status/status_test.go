// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

func TestReady(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenarios() {
		seen[s.reason] = true
		t.Run(s.name, func(t *testing.T) {
			got := compute(s.in, noon)
			ready := apimeta.FindStatusCondition(got.Conditions, v1.ConditionReady)
			if ready == nil || ready.Status != s.ready || ready.Reason != s.reason {
				t.Fatalf("Ready = %+v, want %s/%s", ready, s.ready, s.reason)
			}
			if !strings.Contains(ready.Message, s.message) || ready.Message == "" {
				t.Errorf("message %q, want it to contain %q", ready.Message, s.message)
			}
			also, stage, _ := strings.Cut(s.also, "/")
			stage = cmp.Or(stage, s.reason)
			for _, abnormal := range []string{v1.ConditionReconciling, v1.ConditionStalled} {
				condition := apimeta.FindStatusCondition(got.Conditions, abnormal)
				switch {
				case abnormal != also && condition != nil:
					t.Errorf("%s = %+v, want none", abnormal, condition)
				case abnormal == also && (condition == nil || condition.Status != metav1.ConditionTrue || condition.Reason != stage || condition.Message != ready.Message):
					t.Errorf("%s = %+v, want True/%s with the message of Ready", abnormal, condition, stage)
				}
			}
			if got.ObservedGeneration != 7 || got.Selector != "apps.fairlead.dev/application=web" {
				t.Errorf("observedGeneration %d, selector %q", got.ObservedGeneration, got.Selector)
			}
		})
	}
	for _, reason := range []string{
		v1.ReasonReady, v1.ReasonScaledToZero, v1.ReasonApplying, v1.ReasonRollingOut, v1.ReasonPodsUnavailable,
		v1.ReasonProgressDeadlineExceeded, v1.ReasonPaused, v1.ReasonDeleting, v1.ReasonInvalid, v1.ReasonConflict,
		v1.ReasonQuotaExceeded, v1.ReasonPolicyDenied, v1.ReasonPermissionDenied, v1.ReasonChildRefused,
		v1.ReasonContended, v1.ReasonApplyFailed, v1.ReasonReplicaFailure, v1.ReasonDrifted, v1.ReasonDeploymentNotFound,
	} {
		if !seen[reason] {
			t.Errorf("no scenario for %s", reason)
		}
	}
}

// What was known about the children stays while nothing is planned; the pods are still counted.
func TestInvalidKeepsWhatWasKnown(t *testing.T) {
	in := settled()
	in.Snapshot.Application.Status = compute(in, noon)
	before := in.Snapshot.Application.Status

	in.Results = nil
	in.Invalid = field.ErrorList{field.Required(field.NewPath("spec", "image"), "")}
	counts(in.Snapshot.Children[ref(child.Deployment, "web")].(*appsv1.Deployment), 3, 3, 2)
	got := compute(in, noon)

	if got.AvailableReplicas != 2 || got.Replicas != 3 || got.DesiredReplicas != 3 {
		t.Errorf("counts %d/%d of %d", got.AvailableReplicas, got.Replicas, got.DesiredReplicas)
	}
	if len(got.Resources) != 2 || got.Resources[0] != before.Resources[0] || got.Image != "web:2" {
		t.Errorf("not kept: %+v", got)
	}
	got.Resources[0].Name = "changed"
	if before.Resources[0].Name != "web" {
		t.Error("the new status shares memory with the old one")
	}
}

func TestImage(t *testing.T) {
	const old = "web:1"
	tests := []struct {
		name   string
		change func(*Input, *appsv1.Deployment)
		want   string
	}{
		{"complete", func(*Input, *appsv1.Deployment) {}, "web:2"},
		{"rolling out", func(_ *Input, d *appsv1.Deployment) { rollingOut(d) }, old},
		{"changed in this sync", func(in *Input, _ *appsv1.Deployment) { in.Results[0].Action = plan.Apply }, old},
		{"not observed by Kubernetes", func(_ *Input, d *appsv1.Deployment) { d.Generation++ }, old},
		{"the live one differs from the spec, which is only observed", func(in *Input, _ *appsv1.Deployment) {
			in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
			in.Snapshot.Application.Spec.Image = "web:3"
			in.Results[0].Action = plan.Apply
		}, "web:2"},
		{"foreign Deployment", func(in *Input, _ *appsv1.Deployment) { in.Results[0].Action = plan.NotOwned }, ""},
		{"no Deployment, and only observed", func(in *Input, _ *appsv1.Deployment) { onlyObserved(in) }, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := with(test.change)
			in.Snapshot.Application.Status.Image = old
			if got := compute(in, noon).Image; got != test.want {
				t.Errorf("image %s, want %s", got, test.want)
			}
		})
	}
}

// TestImageOfTakenBackPods: the first sync that finds the Deployment of an earlier Application writes the spec into it. Its pods run what
// they ran, and while rollouts are paused nothing else shows that.
func TestImageOfTakenBackPods(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   string
	}{
		"rolled out":     {func(*appsv1.Deployment) {}, "web:1"},
		"in a rollout":   {rollingOut, ""},
		"scaled to zero": {func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)); counts(d, 0, 0, 0) }, ""},
	} {
		in := with(func(in *Input, d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Image = "web:1"
			test.change(d)
			in.Snapshot.Application.Spec.Paused = new(true)
			in.Results[0].Action, in.Results[0].Generation = plan.Apply, d.Generation+1
		})
		in.Snapshot.Application.Status = compute(in, noon)
		if got := in.Snapshot.Application.Status.Image; got != test.want {
			t.Errorf("%s: just taken back, the image is %q, want %q", name, got, test.want)
		}
		written := newDeployment()
		written.Spec.Paused = true
		counts(written, 3, 0, 3)
		in.Snapshot.Children[ref(child.Deployment, "web")] = written
		in.Results[0] = result(plan.Keep, child.Deployment, "web", written)
		if got := compute(in, noon).Image; got != test.want {
			t.Errorf("%s: later, the image is %q, want %q", name, got, test.want)
		}
	}
}
