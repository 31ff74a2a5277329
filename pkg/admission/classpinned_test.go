// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// TestClassImpactOnPinned: a class refuses the revision that a spec names, although it allows the spec, and gives its pods no default.
func TestClassImpactOnPinned(t *testing.T) {
	const (
		refused = `shop/web: spec.image: Invalid value: "registry.example.com/web:1": in revision 1, which spec.rollback.toRevision asks for: ` +
			`ApplicationClass "standard" allows images of ghcr.io/acme; no edit of the spec changes a revision: name another one, or remove toRevision`
		again = "with this change 1 Application is no longer stalled because of the class, so Fairlead carries out what the spec says, which may replace pods: shop/web"
	)
	class := func(changes ...func(*v1.ApplicationClassSpec)) *v1.ApplicationClass {
		return applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
			for _, change := range changes {
				change(s)
			}
		})
	}
	registry := func(s *v1.ApplicationClassSpec) {
		s.Limits = &v1.ApplicationLimits{AllowedRegistries: []string{"ghcr.io/acme"}}
	}
	priority := func(s *v1.ApplicationClassSpec) { s.Defaults = &v1.ApplicationDefaults{PriorityClassName: "low"} }
	pinned := func(a *v1.Application) {
		a.Spec.Rollback, a.Status.Revision = &v1.Rollback{ToRevision: new(int64(1))}, &v1.RevisionStatus{Current: 1}
	}
	stalled := func(a *v1.Application) {
		a.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonClassLimitExceeded}}
	}
	const allowed = "ghcr.io/acme/web:2"
	for _, test := range []struct {
		name         string
		old, updated *v1.ApplicationClass
		application  *v1.Application
		former       string
		want         []string
	}{
		{"a limit that its revision breaks", class(), class(registry), inStandard(image(allowed), pinned), "", []string{
			"with this change 1 Application is stalled and not updated any more: shop/web", refused,
		}},
		{"a limit that its revision keeps", class(), class(registry), inStandard(image(allowed), pinned), "ghcr.io/acme/web:1", nil},
		{"a limit that it breaks no more", class(registry), class(), inStandard(image(allowed), pinned, stalled), "", []string{again}},
		{"a default that frees its spec alone", class(registry, priority), class(registry), inStandard(image(allowed), pinned, stalled), "", nil},
		{"a default of pods", class(), class(priority), inStandard(image(allowed), pinned), "", nil},
		{"a default of pods, without the pin", class(), class(priority), inStandard(image(allowed)), "", []string{
			"with this change 1 Application gets other defaults, which may replace pods: shop/web",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := (&inClasses{
				classes: []*v1.ApplicationClass{test.old}, applications: []*v1.Application{test.application}, namespaces: map[string]map[string]string{"shop": {}},
				change: func(c *Config) {
					former := &cluster{revisions: []int64{1}}
					if test.former != "" {
						former.former = inStandard(image(test.former))
					}
					c.Revisions = former
				},
			}).handler(t)
			response := ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Update, test.updated, test.old))
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("allowed %t, warnings (-want +got):\n%s", response.Allowed, diff)
			}
		})
	}
}

// TestClassImpactOnRoutes: a class can ask for routes that the cluster does not serve.
func TestClassImpactOnRoutes(t *testing.T) {
	const noRoutes = "the cluster does not serve HTTPRoute"
	routed := inStandard(func(a *v1.Application) {
		a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{"a.example.com"}, Paths: []v1.RoutePath{{Path: "/"}}}}
	})
	old := applicationClass("standard", false, nil)
	updated := applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
		s.Defaults = &v1.ApplicationDefaults{Routes: &v1.RouteDefaults{Type: v1.RouteHTTPRoute, ParentRefs: []v1.ParentReference{{Name: "gateway"}}}}
	})
	handler := (&inClasses{
		classes: []*v1.ApplicationClass{old}, applications: []*v1.Application{routed}, namespaces: map[string]map[string]string{"shop": {}},
		change: func(c *Config) {
			c.Unavailable = func() map[child.Kind]child.Unavailable {
				return map[child.Kind]child.Unavailable{child.HTTPRoute: {Message: noRoutes}}
			}
		},
	}).handler(t)
	want := []string{
		"with this change 1 Application gets other defaults of routes, such as tls: shop/web",
		"with this change 1 Application has a route that the cluster does not serve: shop/web",
		`shop/web: route "public" is not served: ` + noRoutes,
	}
	response := ask(t, handler, ValidateClassPath, classReview(t, admissionv1.Update, updated, old))
	if diff := cmp.Diff(want, response.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
