// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

func TestRoutes(t *testing.T) {
	const port = "ports: [{name: http, containerPort: 80}, {name: dns, containerPort: 53, protocol: UDP}]\n"
	run(t, []testCase{{
		name: "one path by two kinds of comparison, one path on two hosts",
		spec: port + `routes: [{name: a, hostnames: [a.example.com, b.example.com], paths: [{path: /a}, {path: /a, pathType: Exact}]}, {name: b, hostnames: [c.example.com], paths: [{path: /a}]}]`,
	}, {
		name: "names, types and references",
		spec: port + `routes: [{hostnames: [a]}, {name: A, type: Tunnel, hostnames: [b], tls: {}, ingressClassName: ""}, {name: c, hostnames: [c], tls: {secretName: C}, ingressClassName: C}, {name: c, hostnames: [d]}]`,
		want: []string{
			`spec.routes[0].name: Required value: must be a DNS label`,
			`spec.routes[1].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name' or '123-abc')`,
			`spec.routes[1].type: Unsupported value: "Tunnel": supported values: "Auto", "Ingress", "HTTPRoute"`,
			`spec.routes[1].tls.secretName: Required value: an Ingress needs the Secret with the certificate`,
			`spec.routes[1].ingressClassName: Required value: must be the name of an object`,
			`spec.routes[2].tls.secretName: Invalid value: "C": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
			`spec.routes[2].ingressClassName: Invalid value: "C": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
			`spec.routes[3].name: Duplicate value: "c": spec.routes[2].name has it too`,
		},
	}, {
		name: "host names",
		spec: port + `routes: [{name: a}, {name: b, hostnames: ["", 10.0.0.1, 010.0.0.1, "::1", A.example.com, "*", "a.*.com", b.example.com, c.example.com, b.example.com, aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com]}]`,
		want: []string{
			`spec.routes[0].hostnames: Required value: must have at least one, because a route without a host would take every host of the cluster`,
			`spec.routes[1].hostnames[0]: Required value: must be a host name`,
			`spec.routes[1].hostnames[1]: Invalid value: "10.0.0.1": must be a DNS name, not an IP address`,
			`spec.routes[1].hostnames[2]: Invalid value: "010.0.0.1": must be a DNS name, not an IP address`,
			`spec.routes[1].hostnames[3]: Invalid value: "::1": must be a DNS name, not an IP address`,
			`spec.routes[1].hostnames[4]: Invalid value: "A.example.com": must be a host name of lower-case letters, digits, '-' and '.', without scheme, port or path, such as web.example.com`,
			`spec.routes[1].hostnames[5]: Invalid value: "*": must have its only * at the beginning, as in *.example.com, and neither scheme, port nor path`,
			`spec.routes[1].hostnames[6]: Invalid value: "a.*.com": must have its only * at the beginning, as in *.example.com, and neither scheme, port nor path`,
			`spec.routes[1].hostnames[9]: Duplicate value: "b.example.com": spec.routes[1].hostnames[7] has it too`,
			`spec.routes[1].hostnames[10]: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com": each part between the dots must be no more than 63 characters`,
		},
	}, {
		name: "depth of host names",
		spec: port + `routes: [{name: a, hostnames: [a.b.c.d.e.f.g.h.i, a.b.c.d.e.f.g.h.i.j, "*.b.c.d.e.f.g.h.i", "*.b.c.d.e.f.g.h.i.j"]}]`,
		want: []string{
			`spec.routes[0].hostnames[1]: Invalid value: "a.b.c.d.e.f.g.h.i.j": must have at most 9 parts between the dots`,
			`spec.routes[0].hostnames[3]: Invalid value: "*.b.c.d.e.f.g.h.i.j": must have at most 9 parts between the dots`,
		},
	}, {
		name: "ports and types of paths",
		spec: port + `routes: [{name: a, hostnames: [a], paths: [{path: /a, port: dns}, {path: /b, port: https}, {path: /c, pathType: Regex}, {path: c}]}]`,
		want: []string{
			`spec.routes[0].paths[0].port: Invalid value: "dns": must be a TCP port, not UDP`,
			`spec.routes[0].paths[1].port: Unsupported value: "https": supported values: "dns", "http"`,
			`spec.routes[0].paths[2].pathType: Unsupported value: "Regex": supported values: "Exact", "Prefix", "ImplementationSpecific"`,
			`spec.routes[0].paths[3].path: Invalid value: "c": must start with '/'`,
		},
	}, {
		name: "a primary port without HTTP",
		spec: `{ports: [{name: dns, containerPort: 53, protocol: UDP}], routes: [{name: a, hostnames: [a]}]}`,
		want: []string{`spec.routes[0].paths: Required value: the primary port "dns" is UDP and cannot serve HTTP: name a TCP port`},
	}, {
		name: "no ports",
		spec: `{service: {}, routes: [{name: a, hostnames: [a]}]}`,
		want: []string{
			`spec.service: Forbidden: service needs at least one entry in ports`,
			`spec.routes: Forbidden: routes need at least one entry in ports`,
		},
	}, {
		name: "served twice",
		spec: port + `routes: [{name: a, hostnames: [a, b]}, {name: b, hostnames: [b], paths: [{path: /x}, {path: /, pathType: Prefix}]}, {name: c, hostnames: [a, b], paths: [{path: /x/}]}, {name: d, hostnames: [b]}]`,
		want: []string{
			`spec.routes[1].paths[1]: Duplicate value: "b/ (Prefix)": spec.routes[0].hostnames has it too`,
			`spec.routes[2].paths[0]: Duplicate value: "b/x (Prefix)": spec.routes[1].paths[0] has it too`,
			`spec.routes[3].hostnames: Duplicate value: "b/ (Prefix)": spec.routes[0].hostnames has it too`,
		},
	}, {
		name: "annotations",
		spec: port + `
routes:
- name: a
  hostnames: [a]
  ingressClassName: nginx
  annotations:
    apps.fairlead.dev/rendered-hash: x
    kubernetes.io/ingress.class: traefik
    nginx.ingress.kubernetes.io/Configuration-Snippet: more_set_headers "a";
    nginx.org/server-snippets: x
    a b: c`,
		want: []string{
			`spec.routes[0].annotations[a b]: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
			`spec.routes[0].annotations[apps.fairlead.dev/rendered-hash]: Forbidden: apps.fairlead.dev/ is reserved for Fairlead`,
			`spec.routes[0].annotations[kubernetes.io/ingress.class]: Invalid value: "traefik": must be the same as ingressClassName, or better be left out`,
			`spec.routes[0].annotations[nginx.ingress.kubernetes.io/Configuration-Snippet]: Forbidden: snippets of a controller's configuration are not allowed, unless the class names the annotation in allowedAnnotations`,
			`spec.routes[0].annotations[nginx.org/server-snippets]: Forbidden: snippets of a controller's configuration are not allowed, unless the class names the annotation in allowedAnnotations`,
		},
	}})
}

func TestPathProblem(t *testing.T) {
	const (
		characters = "must consist of letters, digits and /-._~!&,=:@%; percent-encode others"
		pattern    = "must be no pattern: with pathType Prefix, /api includes everything below it"
		escape     = "'%' must be followed by two hexadecimal digits"
		hidden     = `must not contain an encoded '/', '\' or '.'`
		control    = "must not contain encoded control characters"
		element    = "must not have '.' or '..' as an element"
		specific   = "must not contain white space, control or non-ASCII characters, quotes, ';' or '#'"
	)
	for _, tc := range []struct {
		path     string
		pathType networkingv1.PathType
		want     string
	}{
		{path: ""},
		{path: "/"},
		{path: "/a/b-c_d.e~f/", pathType: networkingv1.PathTypePrefix},
		{path: "/.well-known/a..b", pathType: networkingv1.PathTypeExact},
		{path: "/caf%C3%A9/a%20b"},
		{path: "/~user/@me,you=1&x!"},
		{path: "/a(/|$)(.*)", pathType: networkingv1.PathTypeImplementationSpecific},
		{path: "/a//b", pathType: networkingv1.PathTypeImplementationSpecific},
		{path: "/" + strings.Repeat("a", 1024), want: "must be no more than 1024 bytes"},
		{path: "a", want: "must start with '/'"},
		{path: "a", pathType: networkingv1.PathTypeImplementationSpecific, want: "must start with '/'"},
		{path: "//", want: "must not contain '//'"},
		{path: "/a//b", want: "must not contain '//'"},
		{path: "/a/./b", want: element},
		{path: "/a/..", want: element},
		{path: "/.", want: element},
		{path: "/a%2Fb", want: hidden},
		{path: "/%2e%2E/", want: hidden},
		{path: "/a%5cb", want: hidden},
		{path: "/a%0A", want: control},
		{path: "/a%7f", want: control},
		{path: "/a%", want: escape},
		{path: "/a%2", want: escape},
		{path: "/a%zz", want: escape},
		{path: "/a b", want: characters},
		{path: "/a\n", want: characters},
		{path: "/é", want: characters},
		{path: "/a;b", want: characters},
		{path: "/a{b}", want: characters},
		{path: "/a*", want: pattern},
		{path: "/a+b", want: characters},
		{path: "/a$1", want: pattern},
		{path: "/a'b", want: characters},
		{path: `/a\b`, want: characters},
		{path: "/a?b=c", want: characters},
		{path: "/a b", pathType: networkingv1.PathTypeImplementationSpecific, want: specific},
		{path: "/a;b", pathType: networkingv1.PathTypeImplementationSpecific, want: specific},
		{path: `/a"b`, pathType: networkingv1.PathTypeImplementationSpecific, want: specific},
		{path: "/é", pathType: networkingv1.PathTypeImplementationSpecific, want: specific},
	} {
		if got := pathProblem(tc.path, tc.pathType); got != tc.want {
			t.Errorf("%q (%s): %q, want %q", tc.path, tc.pathType, got, tc.want)
		}
	}
}
