// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

const (
	byIngress = `
ports: [{name: http, containerPort: 8080}]
routes: [{name: public, type: Ingress, hostnames: [web.example.com]}]
`
	byHTTPRoute = `
ports: [{name: http, containerPort: 8080}]
routes: [{name: public, type: HTTPRoute, hostnames: [web.example.com], parentRefs: [{name: shared}], tls: {redirect: true}}]
`
	monitored = `
ports: [{name: http, containerPort: 8080}]
monitoring: {interval: 30s}
`
	small = `
ports: [{name: http, containerPort: 8080}]
`
)

// settledOptional is settled, for specs with children of optional kinds too.
func settledOptional(t *testing.T, spec string) child.Snapshot {
	t.Helper()
	app := application(t, spec)
	snapshot := child.Snapshot{Application: app, Children: map[child.Ref]child.Object{}}
	for _, desired := range rendered(t, app) {
		var live child.Object
		switch desired.Kind {
		case child.HTTPRoute:
			live = &gatewayv1.HTTPRoute{}
		case child.ServiceMonitor:
			live = &unstructured.Unstructured{}
		default:
			snapshot.Children[desired.Ref] = stored(t, desired)
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendertest.Object(t, desired).Object, live); err != nil {
			t.Fatalf("%s: %v", desired.Ref, err)
		}
		live.SetUID("optional-uid")
		snapshot.Children[desired.Ref] = live
	}
	return snapshot
}

// unserved takes the API of a kind away: nothing of it can be seen.
func unserved(snapshot *child.Snapshot, kinds ...child.Kind) {
	snapshot.Unavailable = map[child.Kind]child.Unavailable{}
	for _, kind := range kinds {
		snapshot.Unavailable[kind] = child.Unavailable{Message: "the cluster does not serve it"}
		for ref := range snapshot.Children {
			if ref.Kind == kind {
				delete(snapshot.Children, ref)
			}
		}
	}
}

// The new child of a route stands before the old one, which knows it as its successor.
func TestRouteChangesItsKind(t *testing.T) {
	ingress, route, redirect := ref(child.Ingress), ref(child.HTTPRoute), ref(child.HTTPRoute)
	redirect.Name += "-redirect"
	for _, test := range []struct {
		name          string
		before, after string
		unserved      []child.Kind
		want          []string
		// successors are what the deleted ones wait for.
		successors map[child.Ref]child.Ref
	}{
		{
			name: "Ingress to HTTPRoute", before: byIngress, after: byHTTPRoute,
			want: []string{
				"Create HTTPRoute shop/web-redirect: it does not exist", "Create HTTPRoute shop/web: it does not exist",
				"WaitDependency Ingress shop/web: HTTPRoute shop/web, which takes its place, does not exist yet",
			},
			successors: map[child.Ref]child.Ref{ingress: route},
		},
		{
			name: "HTTPRoute to Ingress", before: byHTTPRoute, after: byIngress,
			want: []string{
				"Create Ingress shop/web: it does not exist",
				"WaitDependency HTTPRoute shop/web: Ingress shop/web, which takes its place, does not exist yet",
				"WaitDependency HTTPRoute shop/web-redirect: Ingress shop/web, which takes its place, does not exist yet",
			},
			successors: map[child.Ref]child.Ref{route: ingress, redirect: ingress},
		},
		{
			name: "the successor is not served", before: byIngress, after: byHTTPRoute, unserved: []child.Kind{child.HTTPRoute},
			want: []string{
				"APIUnavailable HTTPRoute shop/web-redirect: the cluster does not serve it", "APIUnavailable HTTPRoute shop/web: the cluster does not serve it",
				"WaitDependency Ingress shop/web: HTTPRoute shop/web, which takes its place, does not exist yet",
			},
			successors: map[child.Ref]child.Ref{ingress: route}, // So it stays.
		},
		{
			name: "the old one is not served: nothing of it is deleted", before: byHTTPRoute, after: byIngress, unserved: []child.Kind{child.HTTPRoute},
			want: []string{"Create Ingress shop/web: it does not exist"},
		},
		{
			name: "no route any more: nothing to wait for", before: byIngress, after: small,
			want: []string{"Delete Ingress shop/web: the Application no longer needs it"},
		},
		{
			name: "no HTTPRoute any more, and not served", before: byHTTPRoute, after: small, unserved: []child.Kind{child.HTTPRoute},
		},
		{
			name: "monitoring is switched off", before: monitored, after: small,
			want: []string{"Delete ServiceMonitor shop/web: the Application no longer needs it"},
		},
		{
			name: "monitoring is switched off, and not served", before: monitored, after: small, unserved: []child.Kind{child.ServiceMonitor},
		},
		{
			name: "monitoring is not served", before: small, after: monitored, unserved: []child.Kind{child.ServiceMonitor},
			want: []string{"APIUnavailable ServiceMonitor shop/web: the cluster does not serve it"},
		},
		{name: "all as it is", before: byHTTPRoute, after: byHTTPRoute},
		{name: "monitored as it is", before: monitored, after: monitored},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settledOptional(t, test.before)
			snapshot.Application = application(t, test.after)
			unserved(&snapshot, test.unserved...)
			steps := slices.DeleteFunc(compute(t, snapshot), func(s plan.Step) bool {
				return !s.Ref.Kind.CarriesRoutes() && s.Ref.Kind != child.ServiceMonitor
			})
			wantSteps(t, steps, test.want...)
			successors := map[child.Ref]child.Ref{}
			for _, s := range steps {
				if s.After != nil {
					successors[s.Ref] = *s.After
				}
			}
			if test.successors == nil {
				test.successors = map[child.Ref]child.Ref{}
			}
			if diff := cmp.Diff(test.successors, successors); diff != "" {
				t.Errorf("successors (-want +got):\n%s", diff)
			}
		})
	}
}

// Drift of kinds that come with a definition is found by what was rendered, and lists count as a whole.
func TestDriftOfOptionalKinds(t *testing.T) {
	route := func(change func(*gatewayv1.HTTPRoute)) func(*testing.T, child.Object) {
		return func(_ *testing.T, live child.Object) { change(live.(*gatewayv1.HTTPRoute)) }
	}
	monitor := func(value any, path ...string) func(*testing.T, child.Object) {
		return func(t *testing.T, live child.Object) {
			if err := unstructured.SetNestedField(live.(*unstructured.Unstructured).Object, value, path...); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name   string
		spec   string
		kind   child.Kind
		change func(*testing.T, child.Object)
		want   []string
	}{
		{"another host name", byHTTPRoute, child.HTTPRoute, route(func(r *gatewayv1.HTTPRoute) { r.Spec.Hostnames[0] = "evil.example.com" }), []string{".spec.hostnames"}},
		{"one more host name", byHTTPRoute, child.HTTPRoute, route(func(r *gatewayv1.HTTPRoute) { r.Spec.Hostnames = append(r.Spec.Hostnames, "evil.example.com") }), []string{".spec.hostnames"}},
		{"another port", byHTTPRoute, child.HTTPRoute, route(func(r *gatewayv1.HTTPRoute) { r.Spec.Rules[0].BackendRefs[0].Port = new(int32(1)) }), []string{".spec.rules"}},
		{"a weight", byHTTPRoute, child.HTTPRoute, route(func(r *gatewayv1.HTTPRoute) { r.Spec.Rules[0].BackendRefs[0].Weight = new(int32(7)) }), nil},
		{"an annotation of others", byHTTPRoute, child.HTTPRoute, route(func(r *gatewayv1.HTTPRoute) { r.Annotations["example.com/a"] = "b" }), nil},
		{"status", byHTTPRoute, child.HTTPRoute, route(func(r *gatewayv1.HTTPRoute) { r.Status.Parents = make([]gatewayv1.RouteParentStatus, 1) }), nil},
		{"other endpoints", monitored, child.ServiceMonitor, monitor([]any{map[string]any{"port": "other"}}, "spec", "endpoints"), []string{".spec.endpoints"}},
		{"a wider selector", monitored, child.ServiceMonitor, monitor(map[string]any{"matchLabels": map[string]any{"a": "b"}}, "spec", "selector"), []string{".spec.selector"}},
		{"a field that is not rendered", monitored, child.ServiceMonitor, monitor("web", "spec", "jobLabel"), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			snapshot := settledOptional(t, test.spec)
			test.change(t, snapshot.Children[ref(test.kind)])
			got := step(t, compute(t, snapshot), ref(test.kind))
			want := plan.Keep
			if test.want != nil {
				want = plan.Apply
			}
			if got.Action != want || got.Drift != (want == plan.Apply) {
				t.Errorf("the step is %s, drift %t, want %s", got.Action, got.Drift, want)
			}
			if diff := cmp.Diff(test.want, got.Fields); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}
