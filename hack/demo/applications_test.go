// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestTree(t *testing.T) {
	unicode, ascii := style{unicode: true}, style{}
	all := []*v1.Application{readyApplication("a-long-name"), startingApplication("cart"), conflictingApplication("web"), application("new")}

	tests := []struct {
		name         string
		applications []*v1.Application
		style        style
		height       int
		want         string
	}{
		{
			name:  "none",
			style: unicode,
			want:  "",
		},
		{
			name:         "everything",
			applications: all,
			style:        unicode,
			want: `
			✔ a-long-name  Ready  2/2 pods  https://a-long-name.example.com/
			│   ✔ Ready  ✔ Available  ✘ AutoscalingActive (FailedGetResourceMetric)
			├─ Deployment  a-long-name  ✔ Synced
			└─ Service     a-long-name  ✔ Synced
			… cart         RollingOut  0/3 pods
			│   1 of 3 pods are updated, 0 available.
			│   … Ready  … Reconciling  … Available (MinimumReplicasUnavailable)
			├─ Deployment  cart         ✔ Synced
			└─ Service     cart         … Pending: It is being deleted by others.
			✘ web          Conflict  1/1 pod
			│   Service web: An object of this name exists.
			│   ✘ Ready  ✘ Stalled
			├─ Deployment  web          ✔ Synced
			└─ Service     web          ✘ Conflict: An object of this name exists.
			… new          not seen by the controller yet
			`,
		},
		{
			name:         "without Unicode",
			applications: all,
			style:        ascii,
			want: `
			+ a-long-name  Ready  2/2 pods  https://a-long-name.example.com/
			|   + Ready  + Available  x AutoscalingActive (FailedGetResourceMetric)
			|- Deployment  a-long-name  + Synced
			` + "`" + `- Service     a-long-name  + Synced
			. cart         RollingOut  0/3 pods
			|   1 of 3 pods are updated, 0 available.
			|   . Ready  . Reconciling  . Available (MinimumReplicasUnavailable)
			|- Deployment  cart         + Synced
			` + "`" + `- Service     cart         . Pending: It is being deleted by others.
			x web          Conflict  1/1 pod
			|   Service web: An object of this name exists.
			|   x Ready  x Stalled
			|- Deployment  web          + Synced
			` + "`" + `- Service     web          x Conflict: An object of this name exists.
			. new          not seen by the controller yet
			`,
		},
		{
			name:         "little room: what is settled is drawn in brief",
			applications: all,
			style:        unicode,
			height:       11,
			want: `
			✔ a-long-name  Ready  2/2 pods  https://a-long-name.example.com/
			└─ 2 children Synced
			… cart         RollingOut  0/3 pods
			│   1 of 3 pods are updated, 0 available.
			│   … Ready  … Reconciling  … Available (MinimumReplicasUnavailable)
			├─ Deployment  cart         ✔ Synced
			└─ Service     cart         … Pending: It is being deleted by others.
			✘ web          Conflict  1/1 pod
			│   Service web: An object of this name exists.
			└─ 2 children: 1 Synced, 1 Conflict
			… new          not seen by the controller yet
			`,
		},
		{
			name:         "very little room: a line for each",
			applications: all,
			style:        unicode,
			height:       4,
			want: `
			✔ a-long-name  Ready  2/2 pods  https://a-long-name.example.com/
			… cart         RollingOut  0/3 pods
			✘ web          Conflict  1/1 pod
			… new          not seen by the controller yet
			`,
		},
		{
			name:         "too little room",
			applications: all,
			style:        unicode,
			height:       3,
			want: `
			✔ a-long-name  Ready  2/2 pods  https://a-long-name.example.com/
			… cart         RollingOut  0/3 pods
			and 2 more
			`,
		},
		{
			name: "refused: no children",
			applications: []*v1.Application{application("web",
				withCondition(v1.ConditionReady, metav1.ConditionFalse, v1.ReasonInvalid, "spec.image: Required value"),
				withCondition(v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid, "spec.image: Required value"))},
			style: unicode,
			want: `
			✘ web  Invalid
			    spec.image: Required value
			    ✘ Ready  ✘ Stalled
			`,
		},
		{
			name: "a status about an older spec is no news",
			applications: []*v1.Application{application("web",
				withCondition(v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady, ""),
				func(app *v1.Application) { app.Generation = 2 })},
			style: unicode,
			want: `
			… web  Ready
			    … Ready
			`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expectLines(t, test.style, tree(test.applications, test.style, test.height), test.want)
		})
	}
}

func TestConditionTone(t *testing.T) {
	reconciling := withCondition(v1.ConditionReconciling, metav1.ConditionTrue, "X", "")
	tests := []struct {
		kind   string
		status metav1.ConditionStatus
		more   []func(*v1.Application)
		want   tone
	}{
		{kind: v1.ConditionReady, status: metav1.ConditionTrue, want: good},
		{kind: v1.ConditionReady, status: metav1.ConditionFalse, want: bad},
		{kind: v1.ConditionReady, status: metav1.ConditionUnknown, want: busy},
		{kind: v1.ConditionReady, status: metav1.ConditionFalse, more: []func(*v1.Application){reconciling}, want: busy},
		{kind: v1.ConditionStalled, status: metav1.ConditionTrue, want: bad},
		{kind: v1.ConditionStalled, status: metav1.ConditionFalse, want: good},
		{kind: v1.ConditionDrifted, status: metav1.ConditionTrue, want: bad},
		{kind: v1.ConditionPaused, status: metav1.ConditionTrue, want: busy},
		{kind: v1.ConditionReconciling, status: metav1.ConditionTrue, want: busy},
		{kind: "SomethingNew", status: metav1.ConditionTrue, want: good},
		{kind: "SomethingNew", status: metav1.ConditionFalse, want: bad},
	}
	for _, test := range tests {
		app := application("web", append(test.more, withCondition(test.kind, test.status, "X", ""))...)
		conditions := app.Status.Conditions
		if got := conditionTone(app, conditions[len(conditions)-1]); got != test.want {
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
