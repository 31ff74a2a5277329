// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// all has every condition that can stand together: an autoscaled, paused, observed Application
// with a route that is invalid now.
func all() Input {
	in := with(func(in *Input, d *appsv1.Deployment) {
		spec := &in.Snapshot.Application.Spec
		d.Spec.Paused, spec.Paused, spec.ReconcilePolicy = true, new(true), v1.ReconcileObserve
		spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"web.example.com"}}}
		in.Autoscaled = true
		in.Results = append(in.Results, result(plan.Keep, child.Ingress, "web", newIngress("web", true)))
	}, replace(result(plan.Apply, child.Service, "web", newService())))
	in.Snapshot.Application.Status = compute(in, noon)
	in.Invalid = field.ErrorList{field.Required(field.NewPath("spec", "image"), "")}
	in.Results = nil
	return in
}

func typesOf(conditions []metav1.Condition) []string {
	var list []string
	for _, condition := range conditions {
		list = append(list, condition.Type)
	}
	return list
}

func TestOrderOfConditions(t *testing.T) {
	want := []string{"Ready", "Stalled", "Available", "Progressing", "RoutesReady", "AutoscalingActive", "Paused", "Drifted"}
	in := all()
	if diff := cmp.Diff(want, typesOf(compute(in, noon).Conditions)); diff != "" {
		t.Error(diff)
	}
	// Whatever the order was before, and whoever else wrote conditions.
	in.Snapshot.Application.Status.Conditions = append([]metav1.Condition{{Type: "Foreign", Status: "True"}}, reversed(in.Snapshot.Application.Status.Conditions)...)
	if diff := cmp.Diff(want, typesOf(compute(in, noon).Conditions)); diff != "" {
		t.Error(diff)
	}
}

func reversed[T any](list []T) []T {
	var result []T
	for _, item := range slices.Backward(list) {
		result = append(result, item)
	}
	return result
}

// What the API server demands of a condition, and what the handbook does.
func TestConditionsAreValid(t *testing.T) {
	inputs := []Input{all()}
	for _, s := range scenarios() {
		inputs = append(inputs, s.in)
	}
	for _, in := range inputs {
		for _, condition := range compute(in, noon).Conditions {
			if condition.ObservedGeneration != in.Snapshot.Application.Generation || condition.LastTransitionTime.IsZero() ||
				!validReason.MatchString(condition.Reason) || condition.Message == "" || len(condition.Message) > maxMessage {
				t.Errorf("%+v", condition)
			}
		}
	}
}

func TestTransitionTimes(t *testing.T) {
	in := settled()
	in.Snapshot.Application.Status = compute(in, noon)
	deployment := in.Snapshot.Children[ref(child.Deployment, "web")].(*appsv1.Deployment)
	step := func(at time.Time, want map[string]time.Time) {
		t.Helper()
		in.Snapshot.Application.Generation++
		in.Snapshot.Application.Status = compute(in, at)
		got := map[string]time.Time{}
		for _, condition := range in.Snapshot.Application.Status.Conditions {
			got[condition.Type] = condition.LastTransitionTime.UTC()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	one, two, three := noon.Add(time.Minute), noon.Add(2*time.Minute), noon.Add(3*time.Minute+time.Nanosecond)

	rollingOut(deployment)
	step(one, map[string]time.Time{"Ready": one, "Reconciling": one, "Available": noon, "Progressing": noon})
	// Another reason and message, the same status.
	counts(deployment, 3, 3, 1)
	says(deployment, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable", "done")
	step(two, map[string]time.Time{"Ready": one, "Reconciling": one, "Available": noon, "Progressing": noon})
	// What goes and comes again begins anew, and as precise as it is stored.
	timedOut(deployment)
	step(three, map[string]time.Time{"Ready": one, "Stalled": three.Truncate(time.Second), "Available": noon, "Progressing": three.Truncate(time.Second)})
}

func TestRoutesReady(t *testing.T) {
	routes := []v1.Route{{Name: "public", Hostnames: []string{"a.example.com", "b.example.com"}}, {Name: "second", Hostnames: []string{"b.example.com", "c.example.com"}}}
	ingress := func(action plan.Action, name string, address bool) plan.Result {
		return result(action, child.Ingress, name, newIngress(name, address))
	}
	created := result(plan.Create, child.Ingress, "web-second", nil)
	ofClass := func(name string, class *string) plan.Result {
		live := newIngress(name, false)
		live.Spec.IngressClassName = class // The API server, a route or the Application's class set it.
		return result(plan.Keep, child.Ingress, name, live)
	}
	annotated := ofClass("web-e", nil)
	annotated.Live.SetAnnotations(map[string]string{"kubernetes.io/ingress.class": "traefik"})
	gateways := []v1.ParentReference{{Name: "gateway"}}
	parented := []v1.Route{{Name: "a", Hostnames: []string{"a"}, ParentRefs: gateways}, {Name: "b", Hostnames: []string{"b"}, ParentRefs: gateways}}
	tests := []struct {
		name    string
		results []plan.Result
		routes  []v1.Route
		observe bool
		want    *metav1.Condition
	}{
		{"no routes", nil, nil, false, nil},
		{"no routes any more", []plan.Result{ingress(plan.Delete, "web", true)}, nil, false, nil},
		{"all have addresses", []plan.Result{ingress(plan.Keep, "web", true), ingress(plan.Apply, "web-second", true)}, routes, false,
			&metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The Ingresses for a.example.com, b.example.com, c.example.com are applied and have a load-balancer address."}},
		{"one has no address yet", []plan.Result{ingress(plan.Keep, "web", true), created}, routes, false,
			&metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The Ingresses for a.example.com, b.example.com, c.example.com are applied; 1 of 2 has no load-balancer address yet. If clients do not reach them, check that a controller serves their IngressClass."}},
		{"the only one has no address yet", []plan.Result{created}, routes[:1], false,
			&metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The Ingress for a.example.com, b.example.com is applied, and has no load-balancer address yet. If clients do not reach it, check that a controller serves its IngressClass."}},
		{"of several classes", []plan.Result{ofClass("web", new("nginx")), ofClass("web-b", nil), ofClass("web-c", new("nginx")), annotated, ingress(plan.Keep, "web-d", true)}, routes, false,
			&metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The Ingresses for a.example.com, b.example.com, c.example.com are applied; 4 of 5 have no load-balancer address yet. If clients do not reach them, check that a controller serves IngressClass nginx, Ingresses without a class and the class traefik of its annotation."}},
		{"with Gateways that have no effect", []plan.Result{ingress(plan.Keep, "web", true)}, parented[:1], false,
			&metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The Ingress for a is applied and has a load-balancer address. Route a is an Ingress, so its parentRefs have no effect."}},
		{"with several such routes", []plan.Result{ingress(plan.Keep, "web", true)}, parented, false,
			&metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The Ingress for a, b is applied and has a load-balancer address. Routes a and b are Ingresses, so their parentRefs have no effect."}},
		{"one is deleted in vain", []plan.Result{ingress(plan.Keep, "web", true), failedWith(ingress(plan.Delete, "web-third", true), errOther)}, routes[:1], false,
			&metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The Ingress for a.example.com, b.example.com is applied and has a load-balancer address."}},
		{"one failed", []plan.Result{ingress(plan.Keep, "web", true), failedWith(created, errOther)}, routes, false,
			&metav1.Condition{Status: "False", Reason: v1.ReasonRoutesNotApplied, Message: "Ingress web-second: something else."}},
		{"one drifted", []plan.Result{ingress(plan.Keep, "web", true), created}, routes, true,
			&metav1.Condition{Status: "False", Reason: v1.ReasonRoutesNotApplied, Message: "Ingress web-second: It is missing, or not the Application's."}},
		{"none rendered", nil, routes, false,
			&metav1.Condition{Status: "False", Reason: v1.ReasonRoutesNotApplied, Message: "The routes have no Ingress."}},
		{"many hosts", []plan.Result{ingress(plan.Keep, "web", true)}, []v1.Route{{Hostnames: []string{"a", "b", "c", "d", "e", "f", "g"}}}, false,
			&metav1.Condition{Status: "True", Reason: v1.ReasonApplied, Message: "The Ingress for a, b, c, d, e and 2 more is applied and has a load-balancer address."}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			in := with(func(in *Input, _ *appsv1.Deployment) {
				in.Snapshot.Application.Spec.Routes = test.routes
				if test.observe {
					in.Snapshot.Application.Spec.ReconcilePolicy = v1.ReconcileObserve
				}
				in.Results = append(in.Results, test.results...)
			})
			compareCondition(t, compute(in, noon), v1.ConditionRoutesReady, test.want)
		})
	}
}

func compareCondition(t *testing.T, status v1.ApplicationStatus, kind string, want *metav1.Condition) {
	t.Helper()
	got := apimeta.FindStatusCondition(status.Conditions, kind)
	if want != nil {
		want.Type, want.ObservedGeneration, want.LastTransitionTime = kind, 7, metav1.NewTime(noon).Rfc3339Copy()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAutoscalingActive(t *testing.T) {
	says := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType, status corev1.ConditionStatus, reason string) autoscalingv2.HorizontalPodAutoscalerCondition {
		return autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind, Status: status, Reason: reason, Message: "said so"}
	}
	able := says(autoscalingv2.AbleToScale, "True", "ReadyForNewScale")
	tests := []struct {
		name       string
		conditions []autoscalingv2.HorizontalPodAutoscalerCondition
		change     func(*Input, *autoscalingv2.HorizontalPodAutoscaler)
		want       *metav1.Condition
	}{
		{"active", []autoscalingv2.HorizontalPodAutoscalerCondition{able, says(autoscalingv2.ScalingActive, "True", "ValidMetricFound")}, nil,
			&metav1.Condition{Status: "True", Reason: "ValidMetricFound", Message: "said so"}},
		{"no metrics", []autoscalingv2.HorizontalPodAutoscalerCondition{able, says(autoscalingv2.ScalingActive, "False", "FailedGetResourceMetric")}, nil,
			&metav1.Condition{Status: "False", Reason: "FailedGetResourceMetric", Message: "said so"}},
		{"not able", []autoscalingv2.HorizontalPodAutoscalerCondition{says(autoscalingv2.ScalingActive, "True", "ValidMetricFound"), says(autoscalingv2.AbleToScale, "False", "FailedGetScale")}, nil,
			&metav1.Condition{Status: "False", Reason: "FailedGetScale", Message: "said so"}},
		{"silent", []autoscalingv2.HorizontalPodAutoscalerCondition{able}, nil,
			&metav1.Condition{Status: "Unknown", Reason: v1.ReasonUnknown, Message: "The HorizontalPodAutoscaler has not reported it yet."}},
		{"not seen", nil, func(in *Input, _ *autoscalingv2.HorizontalPodAutoscaler) {
			delete(in.Snapshot.Children, ref(child.HorizontalPodAutoscaler, "web"))
		}, &metav1.Condition{Status: "Unknown", Reason: v1.ReasonAutoscalerNotFound, Message: "There is no HorizontalPodAutoscaler yet."}},
		{"foreign", []autoscalingv2.HorizontalPodAutoscalerCondition{able}, func(in *Input, hpa *autoscalingv2.HorizontalPodAutoscaler) {
			in.Results = append(in.Results, result(plan.NotOwned, child.HorizontalPodAutoscaler, "web", hpa))
		}, &metav1.Condition{Status: "Unknown", Reason: v1.ReasonAutoscalerNotFound, Message: "HorizontalPodAutoscaler web is not the Application's."}},
		{"not asked for", []autoscalingv2.HorizontalPodAutoscalerCondition{able}, func(in *Input, _ *autoscalingv2.HorizontalPodAutoscaler) { in.Autoscaled = false }, nil},
		{"not planned: goes on as it was", []autoscalingv2.HorizontalPodAutoscalerCondition{says(autoscalingv2.ScalingActive, "True", "ValidMetricFound")}, func(in *Input, _ *autoscalingv2.HorizontalPodAutoscaler) {
			in.Snapshot.Application.Status = compute(*in, noon)
			in.Autoscaled, in.Results = false, nil
		}, &metav1.Condition{Status: "True", Reason: "ValidMetricFound", Message: "said so"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: ownedMeta("web", "hpa-uid"), Status: autoscalingv2.HorizontalPodAutoscalerStatus{Conditions: test.conditions}}
			in := with(func(in *Input, _ *appsv1.Deployment) {
				in.Autoscaled = true
				in.Snapshot.Children[ref(child.HorizontalPodAutoscaler, "web")] = hpa
			})
			if test.change != nil {
				test.change(&in, hpa)
			}
			status := compute(in, noon)
			compareCondition(t, status, v1.ConditionAutoscalingActive, test.want)
			if !apimeta.IsStatusConditionTrue(status.Conditions, v1.ConditionReady) && test.name != "foreign" {
				t.Error("the autoscaler keeps the Application from being ready")
			}
		})
	}
}

func TestPausedAndDrifted(t *testing.T) {
	in := settled()
	status := compute(in, noon)
	compareCondition(t, status, v1.ConditionPaused, nil)
	compareCondition(t, status, v1.ConditionDrifted, nil)

	application := in.Snapshot.Application
	application.Spec.Paused, application.Spec.ReconcilePolicy = new(true), v1.ReconcileObserve
	status = compute(in, noon)
	compareCondition(t, status, v1.ConditionPaused, &metav1.Condition{Status: "True", Reason: v1.ReasonPaused, Message: "spec.paused stops rollouts."})
	compareCondition(t, status, v1.ConditionDrifted, nil)

	in.Results = append(in.Results,
		result(plan.Apply, child.ServiceAccount, "web", newService()),
		result(plan.Backoff, child.ConfigMap, "web", newService()),
		result(plan.Create, child.NetworkPolicy, "web", nil),
		result(plan.Delete, child.Ingress, "web", newIngress("web", false)),
		result(plan.NotOwned, child.Ingress, "web-second", nil))
	compareCondition(t, compute(in, noon), v1.ConditionDrifted,
		&metav1.Condition{Status: "True", Reason: v1.ReasonDrifted, Message: "Fairlead would change 2 objects, delete 1 and create 1, unless one of that name exists."})
}

// TestPauseOfARefusedSpec: Fairlead carries nothing of the spec out, so a rollout that has begun goes on.
func TestPauseOfARefusedSpec(t *testing.T) {
	for _, stops := range []bool{false, true} {
		in := with(func(in *Input, d *appsv1.Deployment) {
			d.Spec.Paused, in.Snapshot.Application.Spec.Paused = stops, new(true)
		})
		in.Results, in.InvalidReason, in.Invalid = nil, v1.ReasonClassLimitExceeded, field.ErrorList{field.Invalid(field.NewPath("spec", "replicas"), 2, "at most 1")}
		if got := apimeta.IsStatusConditionTrue(compute(in, noon).Conditions, v1.ConditionPaused); got != stops {
			t.Errorf("Deployment.spec.paused is %t, and Paused is %t", stops, got)
		}
	}
}

func TestWithheld(t *testing.T) {
	for want, test := range map[string]struct {
		counts [3]int
		unsure bool
	}{
		"Fairlead would create 4 objects.":                                                             {[3]int{0, 4, 0}, false},
		"Fairlead would create 4 objects, unless objects of those names exist.":                        {[3]int{0, 4, 0}, true},
		"Fairlead would create 1 object, unless one of that name exists.":                              {[3]int{0, 1, 0}, true},
		"Fairlead would change 1 object.":                                                              {[3]int{1, 0, 0}, false},
		"Fairlead would delete 2 objects and create 1.":                                                {[3]int{0, 1, 2}, false},
		"Fairlead would change 3 objects, delete 2 and create 1.":                                      {[3]int{3, 1, 2}, false},
		"Fairlead would change 3 objects, delete 1 and create 2, unless objects of those names exist.": {[3]int{3, 2, 1}, true},
	} {
		if got := withheld(test.counts[0], test.counts[1], test.counts[2], test.unsure); got != want {
			t.Errorf("%v: %q, want %q", test, got, want)
		}
	}
}
