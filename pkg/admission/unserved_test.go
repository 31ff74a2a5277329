// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// A field that needs an API of another project is warned of where the cluster does not serve it, when a request begins to set it.
func TestUnserved(t *testing.T) {
	const (
		noRoutes    = "the cluster does not serve HTTPRoute"
		noMonitors  = "the cluster does not serve ServiceMonitor"
		noEffect    = `spec.routes[r].parentRefs: they have no effect, and the route becomes an Ingress: ` + noRoutes
		noCert      = `spec.routes[r].parentRefs: they have no effect, and the route becomes an Ingress without a certificate, because tls.secretName is not set: ` + noRoutes
		notServed   = `route "r" is not served: ` + noRoutes
		noneScrapes = "spec.monitoring: no Prometheus scrapes the pods: " + noMonitors
	)
	absent := map[child.Kind]child.Unavailable{child.HTTPRoute: {Message: noRoutes}, child.ServiceMonitor: {Message: noMonitors}}
	withRoute := func(change func(*v1.Route)) *v1.Application {
		return application(func(a *v1.Application) {
			route := v1.Route{Name: "r", Hostnames: []string{"web.example.com"}}
			change(&route)
			a.Spec.Routes = []v1.Route{route}
		})
	}
	parents := func(r *v1.Route) { r.ParentRefs = []v1.ParentReference{{Name: "gateway"}} }
	monitored := application(func(a *v1.Application) { a.Spec.Monitoring = &v1.Monitoring{} })
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		unavailable  map[child.Kind]child.Unavailable
		ofClass      v1.RouteType // the type that the class gives to routes
		want         []string
	}{
		{name: "served", updated: withRoute(parents)},
		{name: "parents of type Auto", updated: withRoute(parents), unavailable: absent, want: []string{noEffect}},
		{name: "parents of type Auto with TLS", updated: withRoute(func(r *v1.Route) { parents(r); r.TLS = &v1.RouteTLS{} }), unavailable: absent, want: []string{noCert}},
		{name: "as before", updated: withRoute(parents), old: withRoute(parents), unavailable: absent},
		{name: "an HTTPRoute", updated: withRoute(func(r *v1.Route) { parents(r); r.Type = v1.RouteHTTPRoute }), unavailable: absent, want: []string{notServed}},
		{name: "a redirect", updated: withRoute(func(r *v1.Route) { parents(r); r.TLS = &v1.RouteTLS{Redirect: new(true)} }), unavailable: absent, want: []string{notServed}},
		{name: "an Ingress", updated: withRoute(func(*v1.Route) {}), unavailable: absent},
		{name: "a path of an Ingress", unavailable: absent, updated: withRoute(func(r *v1.Route) {
			parents(r)
			r.Paths = []v1.RoutePath{{Path: "/", PathType: networkingv1.PathTypeImplementationSpecific}}
		})},
		{
			name: "an HTTPRoute of the class", updated: withRoute(func(r *v1.Route) { parents(r); r.TLS = nil }), unavailable: absent, ofClass: v1.RouteHTTPRoute,
			want: []string{notServed},
		},
		{
			name: "not listed for a while", updated: withRoute(parents),
			unavailable: map[child.Kind]child.Unavailable{child.HTTPRoute: {Message: "the API server cannot list them", ListFailed: true, MayExist: true}},
		},
		{name: "monitoring", updated: monitored, unavailable: absent, want: []string{noneScrapes}},
		{name: "monitoring as before", updated: monitored, old: monitored, unavailable: absent},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				updated := test.updated.DeepCopy()
				updated.Spec.Image = "registry.example.com/web:2"
				question = review(t, updated, test.old)
			}
			asked := &cluster{config: func(c *Config) {
				c.Unavailable = func() map[child.Kind]child.Unavailable { return test.unavailable }
				c.Classes = &inClasses{classes: []*v1.ApplicationClass{applicationClass("standard", true, func(s *v1.ApplicationClassSpec) {
					s.Defaults = &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{Type: test.ofClass}}
				})}}
			}}
			response := ask(t, asked.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
