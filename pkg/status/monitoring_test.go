// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

func TestMonitoringReady(t *testing.T) {
	live := &unstructured.Unstructured{}
	live.SetUID("monitor-uid")
	monitor := func(action plan.Action, reason string) plan.Result {
		r := result(action, child.ServiceMonitor, "web", live)
		r.Reason = reason
		return r
	}
	applied := &metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The ServiceMonitor is applied."}
	for _, test := range []struct {
		name    string
		results []plan.Result
		observe bool
		class   *v1.AppliedClass
		want    *metav1.Condition
	}{
		{name: "not wanted"},
		{name: "not wanted any more", results: []plan.Result{monitor(plan.Delete, "")}},
		{name: "not wanted any more, and deleted in vain", results: []plan.Result{failedWith(monitor(plan.Delete, ""), errOther)}},
		{name: "as rendered", results: []plan.Result{monitor(plan.Keep, "")}, want: applied},
		{name: "created", results: []plan.Result{monitor(plan.Create, "")}, want: applied},
		{name: "the API is not served", results: []plan.Result{monitor(plan.APIUnavailable, "the cluster does not serve ServiceMonitor")},
			want: &metav1.Condition{Status: "False", Reason: v1.ReasonAPINotServed, Message: "The cluster does not serve ServiceMonitor."}},
		{name: "the API is not served, and the class asks for it", results: []plan.Result{monitor(plan.APIUnavailable, "remove spec.monitoring")},
			class: &v1.AppliedClass{Name: "platform"}, want: &metav1.Condition{Status: "False", Reason: v1.ReasonAPINotServed,
				Message: "Remove spec.monitoring. ApplicationClass platform sets it: remove it there."}},
		{name: "refused", results: []plan.Result{failedWith(monitor(plan.Apply, ""), errOther)},
			want: &metav1.Condition{Status: "False", Reason: v1.ReasonMonitoringNotApplied, Message: "ServiceMonitor web: something else."}},
		{name: "another owner's", results: []plan.Result{monitor(plan.NotOwned, "it belongs to others")},
			want: &metav1.Condition{Status: "False", Reason: v1.ReasonMonitoringNotApplied, Message: "ServiceMonitor web: It belongs to others."}},
		{name: "one that exists", results: []plan.Result{monitor(plan.NotOwned, "ServiceMonitor web exists and does not belong to the Application")},
			want: &metav1.Condition{Status: "False", Reason: v1.ReasonMonitoringNotApplied, Message: "ServiceMonitor web exists and does not belong to the Application."}},
		{name: "drifted, and only observed", results: []plan.Result{monitor(plan.Apply, "")}, observe: true,
			want: &metav1.Condition{Status: "False", Reason: v1.ReasonMonitoringNotApplied, Message: "ServiceMonitor web: It differs in what Fairlead sets."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := with(func(in *Input, _ *appsv1.Deployment) {
				if test.observe {
					in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
				}
				in.Results, in.Class = append(in.Results, test.results...), test.class
			})
			got := compute(in, noon)
			compareCondition(t, got, v1.ConditionMonitoringReady, test.want)
			if n := len(got.Resources); test.class != nil && got.Resources[n-1].Message != test.want.Message {
				t.Errorf("status.resources says %q, want %q", got.Resources[n-1].Message, test.want.Message)
			}
		})
	}
}

// An application serves without its metrics being read.
func TestMonitoringDoesNotKeepFromReady(t *testing.T) {
	in := with(func(in *Input, _ *appsv1.Deployment) {
		in.Results = append(in.Results, result(plan.APIUnavailable, child.ServiceMonitor, "web", nil))
	})
	if got := compute(in, noon); !apimeta.IsStatusConditionTrue(got.Conditions, v1.ConditionReady) {
		t.Errorf("the conditions are %+v", got.Conditions)
	}
}

// Without a plan, what was true of it holds on.
func TestMonitoringGoesOnWithoutPlan(t *testing.T) {
	in := with(func(in *Input, _ *appsv1.Deployment) {
		in.Results = append(in.Results, result(plan.Keep, child.ServiceMonitor, "web", nil))
	})
	in.Snapshot.Application.Status = compute(in, noon)
	in.Results = nil
	compareCondition(t, compute(in, noon), v1.ConditionMonitoringReady, &metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The ServiceMonitor is applied."})
}
