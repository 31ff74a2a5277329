// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// annotatedEverywhere has the annotation wherever an Application can have any.
func annotatedEverywhere(t *testing.T, key string) *v1.Application {
	t.Helper()
	app := application(t, web+`routes: [{name: a, hostnames: [a.example.com]}]`)
	annotations := map[string]string{key: "x"}
	app.Spec.Service = &v1.Service{Annotations: annotations}
	app.Spec.Routes[0].Annotations = annotations
	app.Spec.ServiceAccount = &v1.ServiceAccount{Annotations: annotations}
	app.Spec.PodMetadata = &v1.PodMetadata{Annotations: annotations}
	return app
}

const annotatedChildren = 4

// What configures a controller of all namespaces, or brings in host names, reaches no child by any annotation, unless
// the class names it in full.
func TestAnnotationsThatReachOthers(t *testing.T) {
	for _, key := range []string{
		"nginx.ingress.kubernetes.io/configuration-snippet", "nginx.ingress.kubernetes.io/server-snippet", "nginx.ingress.kubernetes.io/auth-snippet",
		"nginx.ingress.kubernetes.io/modsecurity-snippet", "nginx.ingress.kubernetes.io/stream-snippet", "NGINX.ingress.kubernetes.io/Server-Snippet",
		"custom.example.com/server-snippet", "nginx.org/server-snippets", "nginx.org/location-snippets", "haproxy.org/backend-config-snippet",
		"haproxy.com/backend-config-snippet", "haproxy.org/route-acl", "haproxy-ingress.github.io/config-backend", "ingress.kubernetes.io/config-backend",
		"getambassador.io/config", "zalando.org/skipper-routes", "zalando.org/skipper-predicate",
		"external-dns.alpha.kubernetes.io/hostname", "external-dns.alpha.kubernetes.io/internal-hostname", "external-dns.kubernetes.io/hostname",
		"External-DNS.alpha.kubernetes.io/HostName", "dns.alpha.kubernetes.io/external", "dns.alpha.kubernetes.io/internal",
		"nginx.ingress.kubernetes.io/server-alias", "nginx.ingress.kubernetes.io/from-to-www-redirect", "haproxy-ingress.github.io/server-alias-regex",
		"haproxy-ingress.github.io/redirect-from", "konghq.com/host-aliases", "konghq.com/snis", "traefik.ingress.kubernetes.io/router.tls.domains.0.main",
		"alb.ingress.kubernetes.io/conditions.web", "appgw.ingress.kubernetes.io/hostname-extension", "cert-manager.io/alt-names",
		"cert-manager.io/common-name", "cert-manager.io/uri-sans", "cert-manager.io/ip-sans", "cert-manager.io/email-sans",
		"dns.gardener.cloud/dnsnames", "cert.gardener.cloud/dnsnames", "cert.gardener.cloud/commonname", "tailscale.com/hostname", "service.beta.kubernetes.io/do-loadbalancer-hostname",
	} {
		prefix, _, _ := strings.Cut(key, "/")
		for class, refused := range map[string]int{
			"":                                      annotatedChildren,
			`{allowedHostnames: ["*.example.com"]}`: annotatedChildren,
			`{allowedAnnotations: ["` + prefix + `/*"]}`: annotatedChildren,
			`{allowedAnnotations: ["` + key + `"]}`:      0,
		} {
			options := Options{}
			if class != "" {
				options.Class = applicationClass(t, `limits: `+class)
			}
			if errs := ValidateApplication(annotatedEverywhere(t, key), options); len(errs) != refused {
				t.Errorf("%s in class %s: %d errors, want %d: %v", key, class, len(errs), refused, errs.ToAggregate())
			}
		}
	}
}

// The list of the class is for the annotations of all children; what is in common use needs no class.
func TestAllowedAnnotations(t *testing.T) {
	for _, key := range []string{
		"prometheus.io/scrape", "cert-manager.io/cluster-issuer", "nginx.ingress.kubernetes.io/proxy-body-size", "nginx.ingress.kubernetes.io/session-cookie-domain",
		"service.beta.kubernetes.io/aws-load-balancer-type", "eks.amazonaws.com/role-arn", "cloud.google.com/backend-config", "alb.ingress.kubernetes.io/actions.web",
		"example.com/config", "nginx.ingress.kubernetes.io/upstream-vhost", "external-dns.alpha.kubernetes.io/ttl",
	} {
		app := annotatedEverywhere(t, key)
		if errs := ValidateApplication(app, Options{}); len(errs) > 0 {
			t.Errorf("%s without a class: %v", key, errs.ToAggregate())
		}
		for limits, refused := range map[string]int{`{allowedAnnotations: ["` + key + `"]}`: 0, `{allowedAnnotations: ["other.com/*"]}`: annotatedChildren, `{allowedAnnotations: []}`: annotatedChildren} {
			errs := ValidateApplication(app, Options{Class: applicationClass(t, `limits: `+limits)})
			if len(errs) != refused || refused > 0 && !OnlyExceedsClass(errs) {
				t.Errorf("%s in a class with %s: %v, want %d errors", key, limits, errs.ToAggregate(), refused)
			}
		}
	}
}

// What the class sets on pods needs no place in its list, with the value that it sets.
func TestAnnotationsOfTheClassItself(t *testing.T) {
	class := applicationClass(t, `{defaults: {podMetadata: {annotations: {example.com/a: "1"}}}, limits: {allowedAnnotations: []}}`)
	app := application(t, `podMetadata: {annotations: {example.com/a: "1"}}`)
	if errs := ValidateApplication(app, Options{Class: class}); len(errs) > 0 {
		t.Errorf("as the class says: %v", errs.ToAggregate())
	}
	app.Spec.PodMetadata.Annotations["example.com/a"] = "2"
	if errs := ValidateApplication(app, Options{Class: class}); len(errs) != 1 {
		t.Errorf("another value: %v", errs.ToAggregate())
	}
}
