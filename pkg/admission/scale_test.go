// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func scaleReview(t *testing.T, from, to int32) *admissionv1.AdmissionReview {
	t.Helper()
	scale := func(replicas int32) *autoscalingv1.Scale {
		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		scale.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
		scale.Namespace, scale.Name = "shop", "web"
		return scale
	}
	question := review(t, scale(to), scale(from))
	question.Request.Kind.Group, question.Request.Kind.Kind = autoscalingv1.GroupName, "Scale"
	question.Request.SubResource = "scale"
	return question
}

// A number that the class forbids is refused. Of one that is stored but has no effect, kubectl scale warns like an update.
func TestScale(t *testing.T) {
	const (
		refused   = `Application.apps.fairlead.dev "web" is invalid: spec.replicas: ` + atMostFour
		observed  = "spec.reconcilePolicy: it is Observe, so this change has no effect until you set it to Enforce"
		suspended = "spec.reconcilePolicy: it is Suspend, so this change has no effect until you set it to Enforce"
		missing   = `ApplicationClass "missing" does not exist; the Application waits for it. Classes for namespace "shop": standard`
		relative  = `the spec is stored, but not applied until this is fixed: spec.workingDir: Invalid value: "relative": must be an absolute path without control characters`
	)
	policy := func(policy v1.ReconcilePolicy) func(*v1.Application) {
		return func(a *v1.Application) { a.Spec.ReconcilePolicy = policy }
	}
	invalid := func(a *v1.Application) { a.Spec.WorkingDir = "relative" }
	paused := func(a *v1.Application) { a.Spec.Paused = new(true) }
	for _, test := range []struct {
		name     string
		stored   *v1.Application
		from, to int32
		refused  string
		warned   []string
	}{
		{name: "up to the limit", stored: inStandard(), from: 1, to: 4},
		{name: "over the limit", stored: inStandard(), from: 1, to: 9, refused: refused},
		{name: "over it already, and less", stored: inStandard(), from: 10, to: 9, warned: []string{overLimit}},
		{name: "over it already, and more", stored: inStandard(), from: 8, to: 9, refused: refused},
		{name: "below it again", stored: inStandard(), from: 9, to: 4},
		{name: "without a class", stored: application(nil), from: 1, to: 9},
		{name: "of a missing class", stored: application(inClass("missing")), from: 1, to: 9, warned: []string{missing}},
		{name: "not cached", stored: application(func(a *v1.Application) { a.Name = "other" }), from: 1, to: 9},
		{name: "invalid for another reason", stored: inStandard(invalid), from: 1, to: 3, warned: []string{relative}},
		{name: "invalid for another reason, and over the limit", stored: inStandard(invalid), from: 1, to: 9, warned: []string{relative + " (and 1 more)"}},

		{name: "up with Suspend", stored: inStandard(policy(v1.ReconcileSuspend)), from: 1, to: 2, warned: []string{suspended}},
		{name: "down with Suspend", stored: inStandard(policy(v1.ReconcileSuspend)), from: 2, to: 1, warned: []string{suspended}},
		{name: "to 0 with Suspend", stored: inStandard(policy(v1.ReconcileSuspend)), from: 2, to: 0, warned: []string{suspended}},
		{name: "to 0 from no number with Suspend", stored: inStandard(policy(v1.ReconcileSuspend)), from: 0, to: 0, warned: []string{suspended}},
		{name: "from 0 to 0 with Suspend", stored: inStandard(policy(v1.ReconcileSuspend), replicas(0)), from: 0, to: 0},
		{name: "up with Observe", stored: inStandard(policy(v1.ReconcileObserve)), from: 1, to: 2, warned: []string{observed}},
		{name: "with Enforce", stored: inStandard(policy(v1.ReconcileEnforce)), from: 1, to: 2},
		{name: "while paused", stored: inStandard(paused), from: 1, to: 2},
		{name: "over the limit with Suspend", stored: inStandard(policy(v1.ReconcileSuspend)), from: 1, to: 9, refused: refused},
		{name: "over it already with Suspend, and less", stored: inStandard(policy(v1.ReconcileSuspend)), from: 10, to: 9, warned: []string{overLimit, suspended}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.stored.DeepCopy()
			response := ask(t, withLimit(t, test.stored), ValidateScalePath, scaleReview(t, test.from, test.to))
			if got := messageOf(response); response.Allowed != (test.refused == "") || got != test.refused {
				t.Errorf("allowed is %t: %s", response.Allowed, got)
			}
			if diff := cmp.Diff(test.warned, response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.stored); diff != "" {
				t.Errorf("the cached Application was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// In an outage of the webhooks an Application can still be scaled.
func TestScaleWebhook(t *testing.T) {
	_, validating := Configurations("any", Endpoint{URL: "https://127.0.0.1:1"}, "fairlead-system")
	for _, w := range validating.Webhooks {
		aboutScale := w.Rules[0].Resources[0] == v1.ApplicationResource+"/scale"
		if aboutScale != (w.Name == ValidatingScaleWebhookName) || aboutScale != (*w.FailurePolicy == admissionregistrationv1.Ignore) {
			t.Errorf("%s is asked about %q with failure policy %s", w.Name, w.Rules[0].Resources, *w.FailurePolicy)
		}
	}
}
