// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// The old object of a route stays for ten seconds beside its successor. The age that this process knows counts more than the clocks of two
// machines. An Ingress also stays until the Gateways have accepted the HTTPRoute, and for ten seconds more.
func TestRouteOverlap(t *testing.T) {
	made := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	ingress, route := ref(child.Ingress), ref(child.HTTPRoute)
	accept := func(at time.Duration) func(child.Object) {
		return func(live child.Object) { setAccepted(live.(*gatewayv1.HTTPRoute), metav1.ConditionTrue, made.Add(at)) }
	}
	unreported := func(child.Object) {}
	refuse := func(live child.Object) { setAccepted(live.(*gatewayv1.HTTPRoute), metav1.ConditionFalse, made) }
	outdate := func(live child.Object) { accept(0)(live); live.SetGeneration(live.GetGeneration() + 1) }
	for _, test := range []struct {
		name  string
		old   child.Ref
		gate  func(child.Object)
		after time.Duration
		age   map[child.Ref]time.Duration
		want  plan.Action
		left  time.Duration
	}{
		{"at once", ingress, accept(0), 0, nil, plan.WaitDependency, 10 * time.Second},
		{"a moment later", ingress, accept(0), 4 * time.Second, nil, plan.WaitDependency, 6 * time.Second},
		{"the clock of the API server is ahead", ingress, accept(0), -time.Hour, nil, plan.WaitDependency, 10 * time.Second},
		{"ten seconds later", ingress, accept(0), 10 * time.Second, nil, plan.Delete, 0},
		{"created an hour ago by a clock that was set", ingress, accept(0), time.Hour, map[child.Ref]time.Duration{route: 4 * time.Second}, plan.WaitDependency, 6 * time.Second},
		{"created in the future by a clock that was set", ingress, accept(-2 * time.Hour), -time.Hour, map[child.Ref]time.Duration{route: 10 * time.Second}, plan.Delete, 0},
		{"no Gateway has said anything", ingress, unreported, time.Hour, nil, plan.WaitDependency, 0},
		{"a Gateway refuses it", ingress, refuse, time.Hour, nil, plan.WaitDependency, 0},
		{"a Gateway has accepted another generation", ingress, outdate, time.Hour, nil, plan.WaitDependency, 0},
		{"accepted an hour later", ingress, accept(time.Hour), time.Hour + 3*time.Second, nil, plan.WaitDependency, 7 * time.Second},
		{"accepted by a clock that is ahead", ingress, accept(5 * time.Hour), time.Hour, nil, plan.Delete, 0},
		{"an Ingress that comes after an HTTPRoute", route, nil, 4 * time.Second, nil, plan.WaitDependency, 6 * time.Second},
		{"an Ingress that came after an HTTPRoute", route, nil, 10 * time.Second, nil, plan.Delete, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			now, former, next := byHTTPRoute, byIngress, route
			if test.old == route {
				now, former, next = byIngress, byHTTPRoute, ingress
			}
			both := settledOptional(t, now)
			both.Children[test.old] = settledOptional(t, former).Children[test.old]
			both.Children[next].SetCreationTimestamp(metav1.NewTime(made))
			if test.gate != nil {
				test.gate(both.Children[next])
			}
			got := step(t, computeFrom(t, plan.Input{Snapshot: both, Now: made.Add(test.after), Age: test.age}), test.old)
			if got.Action != test.want || got.RecheckAfter != test.left {
				t.Errorf("got %s, again after %s, want %s, after %s", got.Action, got.RecheckAfter, test.want, test.left)
			}
		})
	}
}

// An Ingress does not wait for a Gateway if it has a host name that the route has lost, and waits if the HTTPRoute is about to change.
func TestRouteOverlapOfOtherHosts(t *testing.T) {
	made := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	both, old := settledOptional(t, byHTTPRoute), ref(child.Ingress)
	ingress := settledOptional(t, byIngress).Children[old].(*networkingv1.Ingress)
	both.Children[old] = ingress
	route := both.Children[ref(child.HTTPRoute)].(*gatewayv1.HTTPRoute)
	route.SetCreationTimestamp(metav1.NewTime(made))
	want := func(what string, want plan.Action) {
		t.Helper()
		if got := step(t, computeFrom(t, plan.Input{Snapshot: both, Now: made.Add(time.Hour)}), old); got.Action != want {
			t.Errorf("%s: got %s, want %s", what, got.Action, want)
		}
	}
	setAccepted(route, metav1.ConditionTrue, made)
	route.Spec.Rules[0].BackendRefs[0].Port = new(int32(1))
	want("a rule that is repaired", plan.WaitDependency)

	route.Status = gatewayv1.HTTPRouteStatus{}
	ingress.Spec.Rules[0].Host = "old.example.com"
	want("a host name that the route has lost", plan.Delete)
}

// setAccepted has one controller report on the route for each of its parents.
func setAccepted(route *gatewayv1.HTTPRoute, accepted metav1.ConditionStatus, at time.Time) {
	report := func(kind gatewayv1.RouteConditionType, status metav1.ConditionStatus) metav1.Condition {
		return metav1.Condition{Type: string(kind), Status: status, ObservedGeneration: route.Generation, LastTransitionTime: metav1.NewTime(at)}
	}
	route.Status.Parents = nil
	for _, parent := range route.Spec.ParentRefs {
		route.Status.Parents = append(route.Status.Parents, gatewayv1.RouteParentStatus{ParentRef: parent, Conditions: []metav1.Condition{
			report(gatewayv1.RouteConditionAccepted, accepted), report(gatewayv1.RouteConditionResolvedRefs, metav1.ConditionTrue),
		}})
	}
}
