// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
)

const dnsRule = `
ports: [{protocol: UDP, port: 53}, {protocol: TCP, port: 53}]
to:
- namespaceSelector: {}
- ipBlock: {cidr: 10.0.0.0/8}
- ipBlock: {cidr: 172.16.0.0/12}
- ipBlock: {cidr: 192.168.0.0/16}
- ipBlock: {cidr: 100.64.0.0/10}
- ipBlock: {cidr: 169.254.0.0/16}
- ipBlock: {cidr: "fc00::/7"}
- ipBlock: {cidr: "fe80::/10"}
`

func TestNetworkPolicyIsRestrictive(t *testing.T) {
	checkFragments(t, child.NetworkPolicy, "spec", []fragmentCase{
		{"none", `ports: [{name: http, containerPort: 8080}]`, ``},
		{"empty: DNS and nothing else", `networkPolicy: {}`, `
podSelector: {matchLabels: {apps.fairlead.dev/application: web}}
policyTypes: [Ingress, Egress]
egress: [` + flow(t, dnsRule) + `]`},
	})
}

func TestNetworkPolicyIngress(t *testing.T) {
	const ports = `
ports: [{name: http, containerPort: 8080}, {name: dns, containerPort: 53, protocol: UDP}]
`
	ingress := func(rules string) string { return ports + `networkPolicy: {ingress: [` + rules + `]}` }
	const db = `{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}, podSelector: {matchLabels: {apps.fairlead.dev/application: db}}}`
	const http, dns = `{port: http, protocol: TCP}`, `{port: dns, protocol: UDP}`
	checkFragments(t, child.NetworkPolicy, "spec.ingress", []fragmentCase{
		{"an Application of this namespace, all ports", ingress(`{from: [{application: {name: db}}]}`),
			`[{from: [` + db + `], ports: [` + http + `, ` + dns + `]}]`},
		{"an Application of another namespace, one port", ingress(`{from: [{application: {name: db, namespace: other}}], ports: [dns]}`),
			`[{from: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}, podSelector: {matchLabels: {apps.fairlead.dev/application: db}}}], ports: [` + dns + `]}]`},
		{"a block", ingress(`{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}], ports: [http]}`),
			`[{from: [{ipBlock: {cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}], ports: [` + http + `]}]`},
		{"selectors", ingress(`{from: [{podSelector: {matchLabels: {a: b}}}, {namespaceSelector: {}}, {podSelector: {}, namespaceSelector: {matchLabels: {a: b}}}], ports: [http]}`),
			`[{from: [{podSelector: {matchLabels: {a: b}}}, {namespaceSelector: {}}, {podSelector: {}, namespaceSelector: {matchLabels: {a: b}}}], ports: [` + http + `]}]`},
		{"no peers are not all peers", ingress(`{from: [], ports: [http]}`), ``},
		{"peers that say nothing are not all peers", ingress(`{from: [{}, {application: {name: ""}}, {ipBlock: {cidr: ""}}], ports: [http]}`), ``},
		{"a peer that says nothing beside another", ingress(`{from: [{}, {application: {name: db}}], ports: [http]}`),
			`[{from: [` + db + `], ports: [` + http + `]}]`},
		{"unknown ports are not all ports", ingress(`{from: [{application: {name: db}}], ports: [other]}`), ``},
		{"an unknown port beside another", ingress(`{from: [{application: {name: db}}], ports: [other, http]}`),
			`[{from: [` + db + `], ports: [` + http + `]}]`},
		{"a worker's no ports are not all ports", `networkPolicy: {ingress: [{from: [{application: {name: db}}]}]}`, ``},
	})
}

func TestNetworkPolicyEgress(t *testing.T) {
	egress := func(rules string) string { return `networkPolicy: {egress: [` + rules + `]}` }
	const db = `{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}, podSelector: {matchLabels: {apps.fairlead.dev/application: db}}}`
	checkFragments(t, child.NetworkPolicy, "spec.egress[1]", []fragmentCase{
		{"all ports", egress(`{to: [{application: {name: db}}]}`), `{to: [` + db + `]}`},
		{"ports", egress(`{to: [{application: {name: db}}], ports: [{port: 5432}, {port: 8000, endPort: 8010, protocol: UDP}, {port: pg}]}`),
			`{to: [` + db + `], ports: [{port: 5432, protocol: TCP}, {port: 8000, endPort: 8010, protocol: UDP}, {port: pg, protocol: TCP}]}`},
		{"no peers are not all peers", egress(`{to: [], ports: [{port: 5432}]}`), ``},
		{"peers that say nothing are not all peers", egress(`{to: [{}], ports: [{port: 5432}]}`), ``},
		{"ports that say nothing are not all ports", egress(`{to: [{application: {name: db}}], ports: [{port: 0}, {port: ""}]}`), ``},
	})
	checkFragments(t, child.NetworkPolicy, "spec.egress[0]", []fragmentCase{
		{"DNS comes first", egress(`{to: [{application: {name: db}}]}`), dnsRule},
	})
}

func TestNetworkPolicyOpensRoutedPorts(t *testing.T) {
	const spec = `
ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9000}, {name: metrics, containerPort: 9090}]
networkPolicy: {}
`
	const routes = `
routes:
- {name: public, hostnames: [web.example.com]}
- {name: admin, hostnames: [admin.example.com], paths: [{path: /, port: admin}, {path: /other, port: http}]}
`
	const nginx = `{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: ingress-nginx}}}`
	const traefik = `{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: traefik}}}`
	const opened = `ports: [{port: http, protocol: TCP}, {port: admin, protocol: TCP}]`
	for _, test := range []struct {
		name, spec string
		namespaces []string
		want       string
	}{
		{"from the controllers", spec + routes, []string{"traefik", "ingress-nginx", "traefik", ""}, `[{from: [` + nginx + `, ` + traefik + `], ` + opened + `}]`},
		{"no controller is not everyone", spec + routes, nil, ``},
		{"a controller without a name is not everyone", spec + routes, []string{""}, ``},
		{"no route is not every port", spec, []string{"traefik"}, ``},
		{"a route to an unknown port is not every port", spec + `routes: [{name: public, hostnames: [a.b], paths: [{port: other}]}]`, []string{"traefik"}, ``},
	} {
		t.Run(test.name, func(t *testing.T) {
			children := renderedWith(t, application(t, test.spec), render.Facts{RouteControllerNamespaces: test.namespaces})
			wantYAML(t, "ingress", fragment(t, children, child.NetworkPolicy, "spec.ingress"), test.want)
		})
	}
}
