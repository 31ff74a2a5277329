// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

func ingressOf(host string) *networkingv1.Ingress {
	return &networkingv1.Ingress{
		ObjectMeta: ownedMeta("web", "ingress-uid"),
		Spec:       networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: host}}, TLS: []networkingv1.IngressTLS{{Hosts: []string{host}}}},
	}
}

func httpRouteOf(host string) *gatewayv1.HTTPRoute {
	route := &gatewayv1.HTTPRoute{ObjectMeta: ownedMeta("web", "route-uid")}
	route.Spec.Hostnames = []gatewayv1.Hostname{gatewayv1.Hostname(host)}
	route.Spec.Rules = []gatewayv1.HTTPRouteRule{{BackendRefs: []gatewayv1.HTTPBackendRef{{}}}}
	return route
}

// Addresses are those of routes that are there, and the Application's: the spec alone serves nothing.
func TestServedURLs(t *testing.T) {
	ingress, route := ref(child.Ingress, "web"), ref(child.HTTPRoute, "web")
	foreign := ingressOf("old.example.com")
	foreign.OwnerReferences = nil
	redirect := httpRouteOf("old.example.com")
	redirect.Spec.Rules = []gatewayv1.HTTPRouteRule{{}}
	asked := []child.Addresses{{Ref: ingress, URLs: []string{"https://new.example.com/"}}}
	old, wanted := []string{"https://old.example.com/"}, []string{"https://new.example.com/"}
	for _, test := range []struct {
		name   string
		live   map[child.Ref]child.Object
		policy v1.ReconcilePolicy
		result *plan.Result
		known  []string
		want   []string
	}{
		{"created", nil, "", &plan.Result{Step: plan.Step{Action: plan.Create}}, nil, wanted},
		{"applied", map[child.Ref]child.Object{ingress: ingressOf("old.example.com")}, "", &plan.Result{Step: plan.Step{Action: plan.Apply}}, nil, wanted},
		{"as rendered", map[child.Ref]child.Object{ingress: ingressOf("new.example.com")}, "", &plan.Result{Step: plan.Step{Action: plan.Keep}}, nil, wanted},
		{"not created", nil, "", &plan.Result{Step: plan.Step{Action: plan.Create}, Err: errors.New("denied")}, nil, nil},
		{"not applied", map[child.Ref]child.Object{ingress: ingressOf("old.example.com")}, "", &plan.Result{Step: plan.Step{Action: plan.Apply}, Err: errors.New("denied")}, nil, old},
		{"only observed", map[child.Ref]child.Object{ingress: ingressOf("old.example.com")}, v1.ReconcileObserve, &plan.Result{Step: plan.Step{Action: plan.Apply}}, nil, old},
		{"only observed, and missing", nil, v1.ReconcileObserve, &plan.Result{Step: plan.Step{Action: plan.Create}}, nil, nil},
		{"an object of others", map[child.Ref]child.Object{ingress: foreign}, "", &plan.Result{Step: plan.Step{Action: plan.NotOwned}}, nil, nil},
		{"no plan", map[child.Ref]child.Object{ingress: ingressOf("old.example.com")}, "", nil, wanted, old},
		{"no plan, and an object of others", map[child.Ref]child.Object{ingress: foreign}, "", nil, wanted, nil},
		{"the API of the new one is missing", map[child.Ref]child.Object{route: httpRouteOf("old.example.com")}, "", &plan.Result{Step: plan.Step{Action: plan.APIUnavailable}}, old, old},
		{"an HTTPRoute by HTTP", map[child.Ref]child.Object{route: httpRouteOf("old.example.com")}, "", &plan.Result{Step: plan.Step{Action: plan.APIUnavailable}}, nil, []string{"http://old.example.com/"}},
		{"a redirect", map[child.Ref]child.Object{route: redirect}, "", &plan.Result{Step: plan.Step{Action: plan.APIUnavailable}}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			application := newApplication()
			application.Spec.ReconcilePolicy, application.Status.URLs = test.policy, test.known
			snapshot := child.Snapshot{Application: application, Children: test.live}
			var results []plan.Result
			rendered := asked
			if test.result != nil {
				test.result.Ref = ingress
				results = []plan.Result{*test.result}
			} else {
				rendered = nil
			}
			if diff := cmp.Diff(test.want, ServedURLs(snapshot, results, rendered)); diff != "" {
				t.Errorf("URLs (-want +got):\n%s", diff)
			}
		})
	}
}

// An HTTPRoute serves once its Gateways accept it. Until then the Ingress does that carried the route before.
func TestURLsOfHTTPRoutes(t *testing.T) {
	ingress, route := ref(child.Ingress, "web"), ref(child.HTTPRoute, "web")
	routeFor := func(conditions ...metav1.Condition) *gatewayv1.HTTPRoute {
		live := httpRouteOf("new.example.com")
		live.Spec.ParentRefs = []gatewayv1.ParentReference{infra}
		if len(conditions) > 0 {
			reported(live, infra, conditions...)
		}
		return live
	}
	withParents := func(route *gatewayv1.HTTPRoute, parents ...gatewayv1.ParentReference) *gatewayv1.HTTPRoute {
		route.Spec.ParentRefs = parents
		return route
	}
	older := accepted
	older.ObservedGeneration--
	unserved := metav1.Condition{Type: string(gatewayv1.RouteConditionAccepted), Status: "Unknown"}
	wanted, second := []string{"http://new.example.com/"}, []string{"http://second.example.com/"}
	both := slices.Concat(wanted, second)
	oldFirst, oldLast := slices.Concat([]string{"https://old.example.com/"}, second), slices.Concat(both, []string{"https://old.example.com/"})
	for _, test := range []struct {
		name   string
		action plan.Action
		live   *gatewayv1.HTTPRoute
		former *networkingv1.Ingress
		want   []string
	}{
		{"created just now", plan.Create, nil, nil, second},
		{"nobody has reported", plan.Keep, routeFor(), nil, second},
		{"not known", plan.Keep, routeFor(unserved), nil, second},
		{"accepted", plan.Keep, routeFor(accepted, resolved), nil, both},
		{"accepted in an older form", plan.Apply, routeFor(older, resolved), nil, both},
		{"refused", plan.Keep, routeFor(refused, resolved), nil, second},
		{"no backend", plan.Keep, routeFor(accepted, noBackend), nil, second},
		{"accepted by one of two", plan.Keep, reported(withParents(routeFor(), infra, internal), infra, accepted, resolved), nil, both},
		{"accepted, and cannot be written", plan.Backoff, routeFor(accepted, resolved), nil, both},
		{"refused, and cannot be written", plan.Backoff, routeFor(refused, resolved), nil, second},
		{"refused, and the Ingress stays", plan.Keep, routeFor(refused, resolved), ingressOf("old.example.com"), oldFirst},
		{"created just now, and the Ingress stays", plan.Create, nil, ingressOf("old.example.com"), oldFirst},
		{"accepted, and the Ingress stays for a moment", plan.Keep, routeFor(accepted, resolved), ingressOf("old.example.com"), oldLast},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := child.Snapshot{Application: newApplication(), Children: map[child.Ref]child.Object{}}
			results := []plan.Result{{Step: plan.Step{Action: test.action, Ref: route}}}
			if test.live != nil {
				snapshot.Children[route] = test.live
			}
			if test.former != nil {
				snapshot.Children[ingress] = test.former
				results = append(results, plan.Result{Step: plan.Step{Action: plan.WaitDependency, Ref: ingress, Live: test.former, After: &route}})
			}
			other := child.Addresses{Ref: ref(child.Ingress, "web-other"), URLs: second}
			results = append(results, plan.Result{Step: plan.Step{Action: plan.Create, Ref: other.Ref}})
			rendered := []child.Addresses{{Ref: route, URLs: wanted}, other}
			if diff := cmp.Diff(test.want, ServedURLs(snapshot, results, rendered)); diff != "" {
				t.Errorf("URLs (-want +got):\n%s", diff)
			}
		})
	}
}

// The status loses the address of an HTTPRoute while no Gateway accepts it, and with it that the Gateway serves HTTPS.
func TestURLsOfHTTPRouteAcceptedAgain(t *testing.T) {
	route := ref(child.HTTPRoute, "web")
	asked := []child.Addresses{{Ref: route, URLs: []string{"https://web.example.com/", "https://new.example.com/"}}}
	secure := v1.Route{Hostnames: []string{"web.example.com"}, TLS: &v1.RouteTLS{}}
	for name, test := range map[string]struct {
		policy   v1.ReconcilePolicy
		routes   []v1.Route
		result   *plan.Result
		rendered []child.Addresses
		want     string
	}{
		"only observed":         {v1.ReconcileObserve, nil, &plan.Result{Step: plan.Step{Action: plan.Apply}}, asked, "https://web.example.com/"},
		"not applied":           {"", nil, &plan.Result{Step: plan.Step{Action: plan.Apply}, Err: errors.New("denied")}, asked, "https://web.example.com/"},
		"no plan":               {"", []v1.Route{secure}, nil, nil, "https://web.example.com/"},
		"no plan, another path": {"", []v1.Route{{Hostnames: secure.Hostnames, TLS: secure.TLS, Paths: []v1.RoutePath{{Path: "/api"}}}}, nil, nil, "http://web.example.com/"},
		"no plan, and by HTTP":  {"", []v1.Route{{Hostnames: secure.Hostnames}}, nil, nil, "http://web.example.com/"},
	} {
		t.Run(name, func(t *testing.T) {
			application, live := newApplication(), httpRouteOf("web.example.com")
			application.Spec.ReconcilePolicy, application.Spec.Routes = test.policy, test.routes
			live.Spec.ParentRefs = []gatewayv1.ParentReference{infra, internal}
			reported(live, infra, accepted, resolved)
			reported(live, internal, refused, resolved)
			snapshot := child.Snapshot{Application: application, Children: map[child.Ref]child.Object{route: live}}
			var results []plan.Result
			if test.result != nil {
				test.result.Ref = route
				results = []plan.Result{*test.result}
			}
			if diff := cmp.Diff([]string{test.want}, ServedURLs(snapshot, results, test.rendered)); diff != "" {
				t.Errorf("URLs (-want +got):\n%s", diff)
			}
		})
	}
}
