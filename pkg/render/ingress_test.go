// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestIngress(t *testing.T) {
	const ports = `
ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9000}]
`
	const primary = `{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}`
	checkFragments(t, child.Ingress, "spec", []fragmentCase{
		{"none", ports, ``},
		{"the smallest", ports + `routes: [{name: public, hostnames: [web.example.com]}]`,
			`rules: [{host: web.example.com, http: {paths: [` + primary + `]}}]`},
		{"everything", ports + `
routes:
- name: public
  hostnames: [web.example.com, "*.web.example.com"]
  paths: [{path: /}, {path: /admin, pathType: Exact, port: admin}]
  tls: {secretName: web-tls}
  ingressClassName: nginx`, `
ingressClassName: nginx
tls: [{hosts: [web.example.com, "*.web.example.com"], secretName: web-tls}]
rules:
- {host: web.example.com, http: {paths: [` + primary + `, {path: /admin, pathType: Exact, backend: {service: {name: web, port: {name: admin}}}}]}}
- {host: "*.web.example.com", http: {paths: [` + primary + `, {path: /admin, pathType: Exact, backend: {service: {name: web, port: {name: admin}}}}]}}`},
		{"by number, if the Service has another name for the port", `
ports: [{name: http, containerPort: 8080, servicePort: 80, servicePortName: web-with-a-long-name}, {name: admin, containerPort: 9000}]
routes: [{name: public, hostnames: [web.example.com], paths: [{path: /}, {path: /admin, port: admin}]}]`, `
rules:
- host: web.example.com
  http:
    paths:
    - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
    - {path: /admin, pathType: Prefix, backend: {service: {name: web, port: {name: admin}}}}`},
		{"invalid: without ports there is no Service", `routes: [{name: public, hostnames: [web.example.com]}]`, ``},
		{"invalid: no host is not every host", ports + `routes: [{name: public, hostnames: []}]`, ``},
	})
	t.Run("annotations are those of the route", func(t *testing.T) {
		app := application(t, ports+`
routes:
- {name: public, hostnames: [a.example.com], annotations: {a: b}}
- {name: internal, hostnames: [b.example.com]}`)
		ingresses := ofKind(t, rendered(t, app), child.Ingress)
		if got := ingresses[0].GetAnnotations()["a"]; got != "b" {
			t.Errorf("annotation of the first route: got %q, want b", got)
		}
		if _, has := ingresses[1].GetAnnotations()["a"]; has {
			t.Errorf("the second route has an annotation of the first")
		}
	})
}
