// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
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
