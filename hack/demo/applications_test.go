// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/hack/internal/steps"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	fairleadfake "fairlead.dev/fairlead/pkg/generated/clientset/versioned/fake"
)

func TestDescribe(t *testing.T) {
	tests := []struct {
		name        string
		application *v1.Application
		want        string
	}{
		{"ready", readyApplication("web"), `
			✔ web          Ready  2/2 pods  https://web.example.com/
			    ✔ Ready  ✔ Available  ✘ AutoscalingActive
			    AutoscalingActive: FailedGetResourceMetric: no metrics
			    ✔ Deployment web, Service web: Synced
			`},
		{"starting", startingApplication("cart"), `
			… cart         RollingOut  0/3 pods
			    … Ready  … Reconciling  … Available
			    Ready: RollingOut: 1 of 3 pods are updated, 0 available.
			    Available: MinimumReplicasUnavailable: Deployment does not have minimum availability.
			    ✔ Deployment cart: Synced
			    … Service cart: Pending: Another client is deleting it.
			`},
		{"waiting for a person", conflictingApplication("web"), `
			✘ web          Conflict  1/1 pods
			    ✘ Ready  ✘ Stalled
			    Ready: Conflict: Service web exists and does not belong to the Application.
			    ✔ Deployment web: Synced
			    ✘ Service web: Conflict: Service web exists and does not belong to the Application.
			`},
		{"with a problem", application("web",
			withCondition(v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRollingOut, "1 of 2 pods are available. It crashes."),
			func(app *v1.Application) {
				app.Status.Problems = []v1.Problem{
					{Reason: v1.ReasonCrashLooping, Pods: 1, Message: "It crashes."}, // Ready says so.
					{Reason: v1.ReasonImagePullFailed, Pods: 2, Message: "not found"},
				}
			}), `
			✘ web          RollingOut
			    ✘ Ready
			    Ready: RollingOut: 1 of 2 pods are available. It crashes.
			    ImagePullFailed on 2 pods: not found
			`},
		{"new", application("new"), `
			… new          not seen by the controller yet
			`},
		{"with a status about an older spec", application("web",
			withCondition(v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady, ""),
			func(app *v1.Application) { app.Generation = 2 }), `
			… web          Ready
			    … Ready
			`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			steps.NewPrinter(&out, nil).Print(describe(test.application)...)
			expectLines(t, out.String(), test.want)
		})
	}
}

// TestChanges shows what people see of an Application on its way: a line each time that its headline changes.
func TestChanges(t *testing.T) {
	var out strings.Builder
	changes := (&demo{out: steps.NewPrinter(&out, nil)}).newChanges()
	for _, application := range []*v1.Application{application("web"), startingApplication("web"), startingApplication("web"), readyApplication("web")} {
		changes.print([]*v1.Application{application})
	}
	expectLines(t, out.String(), `
			    0.0s  … web          not seen by the controller yet
			    0.0s  … web          RollingOut  0/3 pods  1 of 3 pods are updated, 0 available.
			    0.0s  ✔ web          Ready  2/2 pods  https://web.example.com/
			`)
}

// TestAwait goes the whole way: what is awaited comes about, and what does not is named.
func TestAwait(t *testing.T) {
	web, cart := readyApplication("web"), startingApplication("cart")
	web.Namespace, cart.Namespace = namespace, namespace
	var out strings.Builder
	// Not NewClientset: nothing is applied here, so the managed fields that it keeps are of no use.
	d := &demo{out: steps.NewPrinter(&out, nil), fairlead: fairleadfake.NewSimpleClientset(web, cart)}
	got, err := d.await(t.Context(), []string{"web"}, allWell)
	if err != nil || len(got) != 1 || got[0].Name != "web" {
		t.Errorf("got %v, %v", got, err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, errors.New("not within a moment"))
	defer cancel()
	_, err = d.await(ctx, []string{"web", "cart"}, allWell)
	if err == nil || !strings.Contains(err.Error(), "not within a moment: waiting for Applications, last seen: 1 of 2 are as expected") {
		t.Errorf("got %v", err)
	}
	out.Reset()
	d.printAwaited(t.Context(), steps.Step{})
	if printed := out.String(); !strings.Contains(printed, "… cart") || strings.Contains(printed, "web") {
		t.Errorf("of the Applications that are not as wanted it prints:\n%s", printed)
	}
}

func TestConditionTone(t *testing.T) {
	reconciling := withCondition(v1.ConditionReconciling, metav1.ConditionTrue, "X", "")
	tests := []struct {
		kind   string
		status metav1.ConditionStatus
		more   []func(*v1.Application)
		want   steps.Tone
	}{
		{kind: v1.ConditionReady, status: metav1.ConditionTrue, want: steps.Good},
		{kind: v1.ConditionReady, status: metav1.ConditionFalse, want: steps.Bad},
		{kind: v1.ConditionReady, status: metav1.ConditionUnknown, want: steps.Busy},
		{kind: v1.ConditionReady, status: metav1.ConditionFalse, more: []func(*v1.Application){reconciling}, want: steps.Busy},
		{kind: v1.ConditionStalled, status: metav1.ConditionTrue, want: steps.Bad},
		{kind: v1.ConditionStalled, status: metav1.ConditionFalse, want: steps.Good},
		{kind: v1.ConditionDrifted, status: metav1.ConditionTrue, want: steps.Bad},
		{kind: v1.ConditionPaused, status: metav1.ConditionTrue, want: steps.Busy},
		{kind: v1.ConditionReconciling, status: metav1.ConditionTrue, want: steps.Busy},
		{kind: "SomethingNew", status: metav1.ConditionTrue, want: steps.Good},
		{kind: "SomethingNew", status: metav1.ConditionFalse, want: steps.Bad},
	}
	for _, test := range tests {
		app := application("web", append(test.more, withCondition(test.kind, test.status, "X", ""))...)
		conditions := app.Status.Conditions
		if got := conditionTone(app, &conditions[len(conditions)-1]); got != test.want {
			t.Errorf("conditionTone(%s=%s, beside %d others) is %d, want %d", test.kind, test.status, len(test.more), got, test.want)
		}
	}
}

func TestAllWell(t *testing.T) {
	three := int32(3)
	tests := []struct {
		name   string
		modify func(*v1.Application)
		want   bool
	}{
		{"ready", func(*v1.Application) {}, true},
		{"the status is about an older spec", func(app *v1.Application) { app.Generation++ }, false},
		{"a child is not synced", withChild("Ingress", "web", v1.ResourcePending, ""), false},
		{"the autoscaler has not raised the pods yet", func(app *v1.Application) {
			app.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: &three, MaxReplicas: 5}
		}, false},
		{"not as many pods as asked for", func(app *v1.Application) { app.Spec.Replicas = &three }, false},
	}
	for _, test := range tests {
		app := readyApplication("web")
		test.modify(app)
		if got := allWell(app); got != test.want {
			t.Errorf("%s: allWell is %t, want %t", test.name, got, test.want)
		}
	}
	if allWell(startingApplication("web")) {
		t.Error("allWell is true of an Application that starts")
	}
}
