// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// told are the Events without their messages.
func told(transitions []Transition) []string {
	list := []string{}
	for _, transition := range transitions {
		text := transition.Type + " " + transition.Reason
		if transition.Related != nil {
			text += " " + transition.Related.Kind.Kind + " " + transition.Related.Kind.Version + " " + transition.Related.Name
		}
		if transition.Message == "" {
			text += " without a message"
		}
		list = append(list, text)
	}
	return list
}

func TestTransitions(t *testing.T) {
	deployment := func(f func(*appsv1.Deployment)) Input { return with(func(_ *Input, d *appsv1.Deployment) { f(d) }) }
	service := func(action plan.Action) plan.Result {
		r := result(action, child.Service, "web", newService())
		r.Reason = "Service web exists and does not belong to the Application"
		return r
	}
	chart := service(plan.NotOwned)
	chart.Ref = ref(child.Ingress, "web-public")
	denied := with(replace(failedWith(service(plan.Apply), apierrors.NewForbidden(services, "web", errOther))))
	isSteady, rolling, late := settled(), deployment(rollingOut), deployment(timedOut)
	unavailable := deployment(func(d *appsv1.Deployment) { counts(d, 3, 3, 1) })
	failing := func(d *appsv1.Deployment) {
		rollingOut(d)
		says(d, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", "exceeded quota: small")
	}
	overQuota := deployment(failing)
	overQuotaLate := deployment(func(d *appsv1.Deployment) { failing(d); timedOut(d) })
	unpulled := with(withPods(3, pulling), func(_ *Input, d *appsv1.Deployment) { rollingOut(d) })
	unpulledLate := with(withPods(3, pulling), func(_ *Input, d *appsv1.Deployment) { timedOut(d) })
	conflict := with(replace(service(plan.NotOwned)))
	conflicts := with(replace(service(plan.NotOwned)), func(in *Input, _ *appsv1.Deployment) { in.Results = append(in.Results, chart) })
	drifted := with(replace(service(plan.Apply)), func(in *Input, _ *appsv1.Deployment) {
		in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
	})
	invalid := with(func(in *Input, _ *appsv1.Deployment) {
		in.Results, in.Invalid = nil, field.ErrorList{field.Required(field.NewPath("spec", "image"), "")}
	})
	zero := deployment(func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)); counts(d, 0, 0, 0) })
	disabled := zero
	disabled.Snapshot.Application = newApplication()
	disabled.Snapshot.Application.Spec.Replicas, disabled.Snapshot.Application.Spec.Autoscaling = nil, &v1.Autoscaling{MaxReplicas: 4}
	disabled.Autoscaled = true
	broken := with(replace(failedWith(service(plan.Apply), errOther)))

	lacking := func(what string) Input {
		return with(func(in *Input, _ *appsv1.Deployment) { in.Missing = what + "; no pod starts without it" })
	}
	noSecret, noKey := lacking("Secret db does not exist"), lacking(`Secret db has no key "password"`)

	tests := []struct {
		name     string
		old, new *Input
		want     []string
	}{
		{"new", nil, &rolling, nil},
		{"new and ready", nil, &isSteady, []string{"Normal Ready"}},
		{"ready", &rolling, &isSteady, []string{"Normal Ready"}},
		{"still ready", &isSteady, &isSteady, nil},
		{"scaled to zero", &rolling, &zero, []string{"Normal ScaledToZero"}},
		{"ready, and then zero", &isSteady, &zero, nil},
		{"scaled to zero in spite of its autoscaler", &rolling, &disabled, []string{"Warning PodsUnavailable Deployment v1 web"}},
		{"a new rollout", &isSteady, &rolling, nil},
		{"past the deadline", &rolling, &late, []string{"Warning ProgressDeadlineExceeded Deployment v1 web"}},
		{"still past the deadline", &late, &late, nil},
		{"stalled for another reason", &late, &denied, []string{"Warning PolicyDenied Service v1 web"}},
		{"not stalled any more", &late, &rolling, nil},
		{"pods stopped serving", &isSteady, &unavailable, []string{"Warning PodsUnavailable Deployment v1 web"}},
		{"pods never served", &rolling, &unavailable, nil},
		{"pods cannot be made", &rolling, &overQuota, []string{"Warning QuotaExceeded Deployment v1 web"}},
		{"pods still cannot be made", &overQuota, &overQuota, nil},
		{"pods cannot be made past the deadline", &overQuota, &overQuotaLate, []string{"Warning ProgressDeadlineExceeded Deployment v1 web"}},
		{"an image cannot be pulled", &rolling, &unpulled, []string{"Warning ImagePullFailed Deployment v1 web"}},
		{"it still cannot", &unpulled, &unpulled, nil},
		{"it cannot be pulled past the deadline", &unpulled, &unpulledLate, []string{"Warning ProgressDeadlineExceeded Deployment v1 web"}},
		{"an image can be pulled again", &unpulled, &rolling, nil},
		{"a foreign object", &isSteady, &conflict, []string{"Warning Conflict Service v1 web"}},
		{"one more", &conflict, &conflicts, []string{"Warning Conflict Ingress v1 web-public"}},
		{"one less", &conflicts, &conflict, nil},
		{"drift", &isSteady, &drifted, []string{"Warning Drifted"}},
		{"still drift", &drifted, &drifted, nil},
		{"invalid", &isSteady, &invalid, []string{"Warning Invalid"}},
		{"a write that is retried", &isSteady, &broken, nil},
		{"a Secret is missing", &rolling, &noSecret, []string{"Warning ConfigMissing Deployment v1 web"}},
		{"it is still missing", &noSecret, &noSecret, nil},
		{"now a key of it is missing", &noSecret, &noKey, []string{"Warning ConfigMissing Deployment v1 web"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			old := newApplication().Status
			if test.old != nil {
				old = compute(*test.old, noon)
			}
			if test.want == nil {
				test.want = []string{}
			}
			if diff := cmp.Diff(test.want, told(Transitions(old, compute(*test.new, noon)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// More pods are pods that do not serve yet; nobody needs a warning of that.
func TestScaleUpIsNoWarning(t *testing.T) {
	old := compute(settled(), noon)
	scaled := compute(with(func(_ *Input, d *appsv1.Deployment) { d.Spec.Replicas = new(int32(5)); counts(d, 5, 5, 3) }), noon)
	if got := Transitions(old, scaled); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Deployment and children of a kind that a later version knows.
func TestRelatedOfUnknownKind(t *testing.T) {
	got := related(v1.ResourceStatus{Group: "gateway.networking.k8s.io", Kind: "GRPCRoute", Name: "web"})
	want := &child.Ref{Kind: child.Kind{Group: "gateway.networking.k8s.io", Kind: "GRPCRoute"}, Name: "web"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := cause(v1.ApplicationStatus{}, v1.ReasonProgressDeadlineExceeded); got != nil {
		t.Errorf("%v", got)
	}
}

// A new Application has one Event to tell on its way to ready.
func TestNewApplicationTellsOnce(t *testing.T) {
	stages := []Input{
		with(func(in *Input, _ *appsv1.Deployment) {
			in.Results = []plan.Result{result(plan.Create, child.Deployment, "web", nil), result(plan.Create, child.Service, "web", nil)}
			in.Snapshot.Children = nil
		}),
		with(func(_ *Input, d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{} }),
		with(func(_ *Input, d *appsv1.Deployment) { rollingOut(d); counts(d, 3, 3, 0) }),
		with(func(_ *Input, d *appsv1.Deployment) { counts(d, 3, 3, 2) }),
		settled(),
	}
	status := newApplication().Status
	var all []Transition
	for i, stage := range stages {
		stage.Snapshot.Application.Status = status
		next := compute(stage, noon)
		if next.Conditions[0].Status == "True" != (i == len(stages)-1) {
			t.Errorf("stage %d: %+v", i, next.Conditions[0])
		}
		all = append(all, Transitions(status, next)...)
		status = next
	}
	if got := fmt.Sprint(told(all)); got != "[Normal Ready]" {
		t.Error(got)
	}
}
