// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"cmp"
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/summary"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/why"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestUnusedParents: a route that names a Gateway became an Ingress. why and status say so, and why.
func TestUnusedParents(t *testing.T) {
	const (
		unserved = "spec.routes[0].parentRefs has no effect: the cluster serves no HTTPRoutes, so Ingress cart was made."
		paths    = "spec.routes[0].parentRefs has no effect: an HTTPRoute has no pathType ImplementationSpecific, so Ingress cart was made."
	)
	for name, test := range map[string]struct {
		kinds []child.Kind
		route v1.Route
		older bool // Status is about an older spec.
		state v1.ResourceState
		want  string
	}{
		"no HTTPRoutes":        {kinds: []child.Kind{child.Ingress}, want: unserved},
		"Auto":                 {kinds: []child.Kind{child.Ingress}, route: v1.Route{Type: v1.RouteAuto}, want: unserved},
		"a path of an Ingress": {kinds: []child.Kind{child.Ingress}, route: v1.Route{Paths: []v1.RoutePath{{PathType: networkingv1.PathTypeImplementationSpecific}}}, want: paths},
		"an HTTPRoute":         {kinds: []child.Kind{child.HTTPRoute}},
		"both for a while":     {kinds: []child.Kind{child.Ingress, child.HTTPRoute}},
		"an older Ingress":     {kinds: []child.Kind{child.Ingress}, older: true},
		"not made":             {kinds: []child.Kind{child.Ingress}, state: v1.ResourceConflict},
		"asks for an Ingress":  {kinds: []child.Kind{child.Ingress}, route: v1.Route{Type: v1.RouteIngress}},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := clustertest.Load(t, "healthy")
			application := loaded.Application
			test.route.Name, test.route.ParentRefs = "public", []v1.ParentReference{{Name: "shared"}}
			application.Spec.Routes, application.Status.Resources = []v1.Route{test.route}, nil
			for _, kind := range test.kinds {
				application.Status.Resources = append(application.Status.Resources, v1.ResourceStatus{Group: kind.Group, Kind: kind.Kind, Name: application.Name, State: cmp.Or(test.state, v1.ResourceSynced)})
			}
			if test.older {
				application.Generation++
			}
			var got []string
			for _, finding := range why.Explain(loaded).Findings {
				if finding.Reason == "ParentRefsUnused" {
					got = append(got, finding.What)
				}
			}
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			if notes := summary.Of(loaded).Notes; !slices.Equal(got, want) || !slices.Equal(notes, want) {
				t.Errorf("why says %q, and status %q, want %q", got, notes, want)
			}
		})
	}
}

// TestUnaddressed: the API server stores the default class in an Ingress, so one without a class has no default either.
func TestUnaddressed(t *testing.T) {
	const (
		check   = "f clients do not reach the application, check that a controller serves "
		list    = ". To see the classes: kubectl get ingressclasses"
		serves  = "Perhaps none serves the class; but some controllers never give one."
		without = "Perhaps none serves an Ingress without a class; but some controllers never give one."
	)
	ingress := func(name, class, annotation string) *networkingv1.Ingress {
		made := &networkingv1.Ingress{}
		made.Name = name
		if class != "" {
			made.Spec.IngressClassName = &class
		}
		if annotation != "" {
			made.Annotations = map[string]string{"kubernetes.io/ingress.class": annotation}
		}
		return made
	}
	for name, test := range map[string]struct {
		ingresses  []*networkingv1.Ingress
		what, note string
		next       []string
	}{
		"three classes": {
			[]*networkingv1.Ingress{ingress("a", "nginx", ""), ingress("b", "haproxy", ""), ingress("c", "", "traefik"), ingress("d", "nginx", "")},
			"No controller has given Ingress a, Ingress b, Ingress c and Ingress d an address. " + serves,
			"no address for Ingress a, Ingress b, Ingress c and Ingress d: i" + check + "IngressClass nginx, IngressClass haproxy and the class traefik of its annotation",
			[]string{"I" + check + "IngressClass nginx, IngressClass haproxy and the class traefik of its annotation" + list},
		},
		"no class": {
			[]*networkingv1.Ingress{ingress("web", "", "")}, "No controller has given Ingress web an address. " + without,
			"no address for Ingress web, which names no IngressClass: set ingressClassName in the route",
			[]string{"Ingress web names no IngressClass: set ingressClassName in the route" + list},
		},
		"one of two without": {
			[]*networkingv1.Ingress{ingress("a", "nginx", ""), ingress("web", "", "")}, "No controller has given Ingress a and Ingress web an address. " + serves,
			"no address for Ingress a and Ingress web: i" + check + "IngressClass nginx; Ingress web names no IngressClass: set ingressClassName in the route",
			[]string{"I" + check + "IngressClass nginx" + list, "Ingress web names no IngressClass: set ingressClassName in the route" + list},
		},
	} {
		loaded := clustertest.Load(t, "autoscaler")
		owner := childOf(t, loaded, child.Ingress.Kind).GetOwnerReferences()
		loaded.Children = nil
		for _, made := range test.ingresses {
			made.OwnerReferences = owner
			loaded.Children = append(loaded.Children, made)
		}
		if hint := summary.Of(loaded).RoutesHint; hint != test.note {
			t.Errorf("%s: status says %q, want %q", name, hint, test.note)
		}
		findings := slices.DeleteFunc(why.Explain(loaded).Findings, func(finding why.Finding) bool { return finding.Reason != "NoAddress" })
		if len(findings) != 1 || findings[0].What != test.what || !slices.Equal(findings[0].Next, test.next) {
			t.Errorf("%s: why says %+v, want %q and %q", name, findings, test.what, test.next)
		}
	}
}

// TestFormerIngress: an Ingress stays until the HTTPRoute that takes its place is accepted.
func TestFormerIngress(t *testing.T) {
	const (
		unreached = "Clients outside of the cluster do not reach the application by all its routes.\n"
		meanwhile = "Not all routes are served as the spec asks. Meanwhile their host names and paths are still in Ingress storefront.\n"
	)
	for name, test := range map[string]struct {
		change func(*v1.Application, *networkingv1.Ingress)
		former bool
	}{
		"the same":        {func(*v1.Application, *networkingv1.Ingress) {}, true},
		"deleted":         {func(_ *v1.Application, i *networkingv1.Ingress) { i.Name = "other" }, false},
		"another owner's": {func(_ *v1.Application, i *networkingv1.Ingress) { i.OwnerReferences = nil }, false},
		"a new host name": {func(a *v1.Application, _ *networkingv1.Ingress) {
			a.Spec.Routes[0].Hostnames = []string{"new.example.com"}
		}, false},
		"a new path": {func(a *v1.Application, _ *networkingv1.Ingress) {
			a.Spec.Routes[0].Paths = []v1.RoutePath{{Path: "/new"}}
		}, false},
		"another route is missing": {func(a *v1.Application, _ *networkingv1.Ingress) {
			a.Spec.Routes = append(a.Spec.Routes, v1.Route{Name: "api", Type: v1.RouteIngress, Hostnames: []string{"api.example.com"}})
		}, false},
		"not an HTTPRoute": {func(a *v1.Application, _ *networkingv1.Ingress) { a.Status.Resources = nil }, false},
	} {
		loaded := clustertest.Load(t, "autoscaler")
		application := loaded.Application
		ingress := childOf(t, loaded, child.Ingress.Kind).(*networkingv1.Ingress)
		application.Status.Resources = append(application.Status.Resources, v1.ResourceStatus{
			Group: child.HTTPRoute.Group, Kind: child.HTTPRoute.Kind, Name: ingress.Name, State: v1.ResourcePending,
		})
		meta.SetStatusCondition(&application.Status.Conditions, metav1.Condition{Type: v1.ConditionRoutesReady, Status: metav1.ConditionFalse, Reason: v1.ReasonAPINotServed})
		test.change(application, ingress)
		wantParts(t, name, shown(t, loaded), map[string]bool{meanwhile: test.former, unreached: !test.former})
	}
}
