// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// anyInput draws what a sync may see and do, likely or not. The status is left out.
func anyInput(t *rapid.T) Input {
	application := newApplication()
	application.Generation = rapid.Int64Range(1, 3).Draw(t, "generation")
	application.Spec.ReconcilePolicy = rapid.SampledFrom([]v1.ReconcilePolicy{"", v1.ReconcileEnforce, v1.ReconcileObserve}).Draw(t, "policy")
	application.Spec.Paused = rapid.SampledFrom([]*bool{nil, new(false), new(true)}).Draw(t, "paused")
	if minimum := rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(2))}); rapid.Bool().Draw(t, "autoscaling") {
		application.Spec.Replicas, application.Spec.Autoscaling = nil, &v1.Autoscaling{MinReplicas: minimum.Draw(t, "minReplicas"), MaxReplicas: 4}
	}
	if rapid.Bool().Draw(t, "routes") {
		application.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"web.example.com"}}}
	}
	in := Input{
		Snapshot:   child.Snapshot{Application: application, Children: map[child.Ref]child.Object{}},
		Autoscaled: rapid.Bool().Draw(t, "autoscaled"),
		URLs:       rapid.SampledFrom([][]string{nil, {}, {"https://web.example.com/"}}).Draw(t, "urls"),
	}
	objects := map[child.Kind]child.Object{
		child.Deployment: anyDeployment(t),
		child.Service:    newService(),
		child.Ingress:    newIngress("web", rapid.Bool().Draw(t, "address")),
		child.HorizontalPodAutoscaler: &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: ownedMeta("web", "hpa-uid"), Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{Type: autoscalingv2.ScalingActive, Status: "True", Reason: rapid.String().Draw(t, "autoscaler's reason")}},
		}},
	}
	withPods(0, nil)(&in, objects[child.Deployment].(*appsv1.Deployment))
	in.Snapshot.Pods = anyPods(t)
	planned := rapid.IntRange(0, 3).Draw(t, "planned") > 0
	for _, kind := range []child.Kind{child.Deployment, child.Service, child.HorizontalPodAutoscaler, child.Ingress} {
		var live child.Object
		if rapid.IntRange(0, 3).Draw(t, kind.Kind+" seen") > 0 {
			live = objects[kind]
			in.Snapshot.Children[ref(kind, "web")] = live
		}
		if planned {
			in.Results = append(in.Results, anyResult(t, kind, live))
		}
	}
	if !planned && rapid.Bool().Draw(t, "invalid") {
		in.Invalid = field.ErrorList{field.Required(field.NewPath("spec", "image"), rapid.String().Draw(t, "detail"))}
	}
	if !planned && rapid.Bool().Draw(t, "deleting") {
		application.DeletionTimestamp = &metav1.Time{Time: noon}
	}
	return in
}

func anyDeployment(t *rapid.T) *appsv1.Deployment {
	pods := rapid.Int32Range(0, 3)
	d := newDeployment()
	d.Spec.Replicas = rapid.SampledFrom([]*int32{nil, new(int32(0)), new(int32(1)), new(int32(3))}).Draw(t, "spec.replicas")
	d.Spec.Paused = rapid.Bool().Draw(t, "Deployment paused")
	counts(d, pods.Draw(t, "replicas"), pods.Draw(t, "updated"), pods.Draw(t, "available"))
	d.Status.ObservedGeneration = rapid.Int64Range(3, 4).Draw(t, "observed")
	if rapid.Bool().Draw(t, "Deployment foreign") {
		d.OwnerReferences = nil
	}
	if rapid.Bool().Draw(t, "Deployment being deleted") {
		d.DeletionTimestamp = &metav1.Time{Time: noon}
	}
	says(d, appsv1.DeploymentProgressing, corev1.ConditionStatus(rapid.SampledFrom([]string{"True", "False", "Unknown"}).Draw(t, "progressing")),
		rapid.SampledFrom([]string{"NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded", "DeploymentPaused", "", "not one word"}).Draw(t, "reason"),
		rapid.String().Draw(t, "message"))
	if rapid.Bool().Draw(t, "replica failure") {
		says(d, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate",
			rapid.SampledFrom([]string{"exceeded quota: small", "violates PodSecurity x", "no"}).Draw(t, "failure"))
	}
	return d
}

func anyResult(t *rapid.T, kind child.Kind, live child.Object) plan.Result {
	actions := []plan.Action{plan.Create, plan.Backoff, plan.WaitDeletion, plan.NotOwned}
	if live != nil {
		actions = []plan.Action{plan.Keep, plan.Apply, plan.Delete, plan.WaitDeletion, plan.NotOwned, plan.Backoff}
	}
	if live != nil && !child.OwnedBy(live, newApplication()) {
		actions = []plan.Action{plan.NotOwned}
	}
	r := result(rapid.SampledFrom(actions).Draw(t, kind.Kind+" action"), kind, "web", live)
	r.Reason = rapid.SampledFrom([]string{"", "Service web exists"}).Draw(t, "why")
	r.Drift = rapid.Bool().Draw(t, "drift")
	r.Fields = rapid.SampledFrom([][]string{nil, {".spec.x"}, {".metadata.labels.x"}}).Draw(t, "fields")
	if kind == child.Deployment && r.Action == plan.Apply {
		r.HandOver = rapid.SampledFrom([]*int32{nil, new(int32(1)), new(int32(3))}).Draw(t, "hand over")
	}
	switch r.Action {
	case plan.Create, plan.Apply, plan.Delete:
		r.Err = rapid.SampledFrom([]error{nil, nil, nil, errOther, terminating(),
			apierrors.NewConflict(services, "web", errOther),
			apierrors.NewForbidden(services, "web", errors.New("exceeded quota: small")),
		}).Draw(t, kind.Kind+" error")
		if r.Err == nil && r.UID == "" {
			r.UID = types.UID("new-" + kind.Kind)
		}
	}
	return r
}

func TestComputeProperties(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		status := newApplication().Status
		at := noon
		for range rapid.IntRange(1, 4).Draw(t, "syncs") {
			in := anyInput(t)
			in.Snapshot.Application.Status = status
			before := in.Snapshot.Application.DeepCopy()
			next := compute(in, at)
			if diff := cmp.Diff(before, in.Snapshot.Application); diff != "" {
				t.Fatalf("the input was changed: %s", diff)
			}
			checkInvariants(t, in, next)
			checkTransitionTimes(t, status, next, at)
			checkIdempotent(t, in, next, at.Add(time.Second)) // Before a grace ends, which takes minutes.
			if (Compare(status, next) == Unchanged) != (Compare(next, status) == Unchanged) {
				t.Fatal("Compare is not symmetric")
			}
			status, at = next, at.Add(time.Minute)
		}
	})
}

func checkInvariants(t *rapid.T, in Input, status v1.ApplicationStatus) {
	ready := apimeta.FindStatusCondition(status.Conditions, v1.ConditionReady)
	reconciling := apimeta.FindStatusCondition(status.Conditions, v1.ConditionReconciling)
	stalled := apimeta.FindStatusCondition(status.Conditions, v1.ConditionStalled)
	switch {
	case ready == nil || status.Conditions[0].Type != v1.ConditionReady:
		t.Fatal("Ready is missing, or not the first")
	case in.deleting() && ready.Reason != v1.ReasonDeleting:
		t.Fatalf("being deleted, but %s", ready.Reason)
	case reconciling != nil && stalled != nil:
		t.Fatal("Reconciling and Stalled")
	case ready.Status == metav1.ConditionTrue && (reconciling != nil || stalled != nil):
		t.Fatal("Ready, and Reconciling or Stalled")
	}
	order := []string{"Ready", "Reconciling", "Stalled", "Available", "Progressing", "RoutesReady", "AutoscalingActive", "Paused", "Drifted"}
	last := -1
	for _, condition := range status.Conditions {
		position := slices.Index(order, condition.Type)
		if position <= last {
			t.Fatalf("%s stands in the wrong place", condition.Type)
		}
		last = position
		if !validReason.MatchString(condition.Reason) || len(condition.Message) > maxMessage || condition.ObservedGeneration != status.ObservedGeneration {
			t.Fatalf("%+v", condition)
		}
	}
	checkProblems(t, in, status)
	if ready.Status == metav1.ConditionTrue {
		checkReady(t, in, status)
	}
}

// checkReady holds what Ready promises, in other words than the code.
func checkReady(t *rapid.T, in Input, status v1.ApplicationStatus) {
	deployment := child.Get[*appsv1.Deployment](in.Snapshot, child.Deployment, "web")
	if deployment == nil || deployment.Status.ObservedGeneration < deployment.Generation ||
		status.AvailableReplicas != status.DesiredReplicas || status.Replicas != status.DesiredReplicas || status.UpdatedReplicas != status.DesiredReplicas {
		t.Fatalf("ready without all pods: %+v", status)
	}
	if a := in.Snapshot.Application.Spec.Autoscaling; in.Autoscaled && !in.observing() && (a == nil || a.MinReplicas == nil || *a.MinReplicas > 0) && status.Replicas == 0 {
		t.Fatal("ready without pods, although an autoscaler has a minimum")
	}
	if len(in.Invalid) > 0 || in.Snapshot.Application.DeletionTimestamp != nil {
		t.Fatal("ready with an invalid spec, or while being deleted")
	}
	for _, result := range in.Results {
		if result.Err != nil || result.Action == plan.NotOwned {
			t.Fatalf("ready, but %+v", result)
		}
		if result.Action == plan.Backoff && in.Snapshot.Application.Spec.ReconcilePolicy != v1.ReconcileObserve {
			t.Fatalf("ready, but %+v", result)
		}
	}
}

func checkTransitionTimes(t *rapid.T, old, next v1.ApplicationStatus, at time.Time) {
	for _, condition := range next.Conditions {
		want := at
		if was := apimeta.FindStatusCondition(old.Conditions, condition.Type); was != nil && was.Status == condition.Status && !beginsToFail(*was, condition) {
			want = was.LastTransitionTime.Time
		}
		if !condition.LastTransitionTime.Time.Equal(want) {
			t.Fatalf("%s changed at %s, want %s", condition.Type, condition.LastTransitionTime, want)
		}
	}
}

func checkIdempotent(t *rapid.T, in Input, status v1.ApplicationStatus, later time.Time) {
	application := in.Snapshot.Application.DeepCopy()
	application.Status = status
	in.Snapshot.Application = application
	again := compute(in, later)
	if diff := cmp.Diff(status, again); diff != "" || Compare(status, again) != Unchanged {
		t.Fatalf("not idempotent (%s): %s", Compare(status, again), diff)
	}
	if told := Transitions(status, again); len(told) > 0 {
		t.Fatalf("nothing changed, but it tells %+v", told)
	}
}
