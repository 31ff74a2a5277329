// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// What a route says and its type does not heed is warned of when a request begins to say it.
func TestIneffectiveFields(t *testing.T) {
	const (
		certificate = `tls.secretName of route "public" has no effect, because its type is HTTPRoute: the Gateway's listener has the certificate`
		class       = `ingressClassName of route "public" has no effect, because its type is HTTPRoute: parentRefs name its Gateways`
	)
	routed := func(changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			withRoute("web.example.com")(a)
			a.Spec.Routes[0].Type = v1.RouteHTTPRoute
			a.Spec.Routes[0].ParentRefs = []v1.ParentReference{{Name: "shared"}}
			for _, change := range changes {
				change(a)
			}
		})
	}
	secret := func(a *v1.Application) { a.Spec.Routes[0].TLS = &v1.RouteTLS{SecretName: "web-tls"} }
	ingressClass := func(a *v1.Application) { a.Spec.Routes[0].IngressClassName = new("nginx") }
	auto := func(a *v1.Application) { a.Spec.Routes[0].Type = v1.RouteAuto }
	ingress := func(a *v1.Application) { a.Spec.Routes[0].Type, a.Spec.Routes[0].ParentRefs = v1.RouteIngress, nil }
	image := func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" }
	behind := func(a *v1.Application) {
		other := v1.Route{Name: "other", Hostnames: []string{"other.example.com"}}
		a.Spec.Routes = append([]v1.Route{other}, a.Spec.Routes...)
	}
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "nothing of an Ingress", updated: routed()},
		{name: "a redirect", updated: routed(func(a *v1.Application) { a.Spec.Routes[0].TLS = &v1.RouteTLS{Redirect: new(true)} })},
		{name: "a certificate", updated: routed(secret), want: []string{certificate}},
		{name: "an IngressClass", updated: routed(ingressClass), want: []string{class}},
		{name: "both", updated: routed(secret, ingressClass), want: []string{certificate, class}},
		{name: "of an Ingress", updated: routed(secret, ingressClass, ingress)},
		{name: "of what may be an Ingress", updated: routed(secret, ingressClass, auto)},
		{name: "by an update", updated: routed(secret), old: routed(), want: []string{certificate}},
		{name: "by a change of the type", updated: routed(secret), old: routed(secret, auto), want: []string{certificate}},
		{name: "as before", updated: routed(secret, ingressClass, image), old: routed(secret, ingressClass)},
		{name: "as before, at another place", updated: routed(secret, behind), old: routed(secret)},
		{name: "one as before", updated: routed(secret, ingressClass), old: routed(secret), want: []string{class}},
		{name: "invalid: what refuses is enough", updated: routed(secret, func(a *v1.Application) { a.Spec.Replicas = new(int32(-1)) })},
	} {
		t.Run(test.name, func(t *testing.T) {
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, new(cluster).handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
