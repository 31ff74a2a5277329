// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

// What a class says about the API that carries a route, and about its redirect.
var routeTypeCases = []mergeCase{{
	name:     "type: HTTPRoute, with its Gateway",
	spec:     `routes: [{name: a, type: Auto, hostnames: [a.example.com]}]`,
	defaults: `routes: {type: HTTPRoute, parentRefs: [{name: shared, namespace: infra}]}`,
	merged:   `routes: [{name: a, type: HTTPRoute, hostnames: [a.example.com], parentRefs: [{name: shared, namespace: infra}]}]`,
	taken:    `routes: {type: HTTPRoute, parentRefs: [{name: shared, namespace: infra}]}`,
}, {
	name:     "type: not said at all",
	spec:     `routes: [{name: a, hostnames: [a.example.com]}]`,
	defaults: `routes: {type: Ingress}`,
	merged:   `routes: [{name: a, type: Ingress, hostnames: [a.example.com]}]`,
	taken:    `routes: {type: Ingress}`,
}, {
	name:     "type: said",
	spec:     `routes: [{name: a, type: Ingress, hostnames: [a.example.com]}, {name: b, type: HTTPRoute, hostnames: [b.example.com], parentRefs: [{name: own}]}]`,
	defaults: `routes: {type: HTTPRoute, parentRefs: [{name: shared}]}`,
	merged:   `routes: [{name: a, type: Ingress, hostnames: [a.example.com]}, {name: b, type: HTTPRoute, hostnames: [b.example.com], parentRefs: [{name: own}]}]`,
}, {
	name:     "type: Ingress is not for a route with parentRefs, rewritePrefix or a redirect",
	spec:     `routes: [{name: a, hostnames: [a], parentRefs: [{name: own}]}, {name: b, hostnames: [b], paths: [{path: /, rewritePrefix: /b}]}, {name: c, hostnames: [c], tls: {redirect: true}}]`,
	defaults: `routes: {type: Ingress}`,
	merged:   `routes: [{name: a, hostnames: [a], parentRefs: [{name: own}]}, {name: b, hostnames: [b], paths: [{path: /, rewritePrefix: /b}]}, {name: c, hostnames: [c], tls: {redirect: true}}]`,
}, {
	name:     "type: HTTPRoute is not for a path that only an IngressClass understands",
	spec:     `routes: [{name: a, hostnames: [a], paths: [{path: /a, pathType: ImplementationSpecific}]}]`,
	defaults: `routes: {type: HTTPRoute, parentRefs: [{name: shared}]}`,
	merged:   `routes: [{name: a, hostnames: [a], paths: [{path: /a, pathType: ImplementationSpecific}]}]`,
}, {
	name:     "type: HTTPRoute is not for more host names than one can have, nor are parentRefs",
	spec:     `routes: [{name: a, hostnames: [h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16]}]`,
	defaults: `routes: {type: HTTPRoute, parentRefs: [{name: shared}]}`,
	merged:   `routes: [{name: a, hostnames: [h0, h1, h2, h3, h4, h5, h6, h7, h8, h9, h10, h11, h12, h13, h14, h15, h16]}]`,
}, {
	name:     "parentRefs: for HTTPRoutes and what may be one, as a whole",
	spec:     `routes: [{name: a, hostnames: [a]}, {name: b, type: HTTPRoute, hostnames: [b]}, {name: c, type: Ingress, hostnames: [c]}, {name: d, hostnames: [d], parentRefs: [{name: own}]}]`,
	defaults: `routes: {parentRefs: [{name: shared}, {name: internal}]}`,
	merged: `routes: [{name: a, hostnames: [a], parentRefs: [{name: shared}, {name: internal}]}, {name: b, type: HTTPRoute, hostnames: [b], parentRefs: [{name: shared}, {name: internal}]},
      {name: c, type: Ingress, hostnames: [c]}, {name: d, hostnames: [d], parentRefs: [{name: own}]}]`,
	taken: `routes: {parentRefs: [{name: shared}, {name: internal}]}`,
}, {
	name:     "redirect: in an HTTPRoute only",
	spec:     `routes: [{name: a, hostnames: [a], parentRefs: [{name: own}], tls: {secretName: own}}, {name: b, hostnames: [b], tls: {secretName: own}}]`,
	defaults: `routes: {tls: {redirect: true}}`,
	merged:   `routes: [{name: a, hostnames: [a], parentRefs: [{name: own}], tls: {secretName: own, redirect: true}}, {name: b, hostnames: [b], tls: {secretName: own}}]`,
	taken:    `routes: {tls: {redirect: true}}`,
}, {
	name:     "redirect: taken by one route, and the Secret by another, in either order",
	spec:     `routes: [{name: a, hostnames: [a]}, {name: b, hostnames: [b], parentRefs: [{name: own}], tls: {secretName: own}}, {name: c, type: Ingress, hostnames: [c]}]`,
	defaults: `routes: {tls: {secretName: wildcard, redirect: true}}`,
	merged: `routes: [{name: a, hostnames: [a], tls: {secretName: wildcard}}, {name: b, hostnames: [b], parentRefs: [{name: own}], tls: {secretName: own, redirect: true}},
      {name: c, type: Ingress, hostnames: [c], tls: {secretName: wildcard}}]`,
	taken: `routes: {tls: {secretName: wildcard, redirect: true}}`,
}, {
	name:     "redirect: by a Gateway of the class",
	spec:     `routes: [{name: a, hostnames: [a], tls: {}}]`,
	defaults: `routes: {parentRefs: [{name: shared}], tls: {redirect: true}}`,
	merged:   `routes: [{name: a, hostnames: [a], parentRefs: [{name: shared}], tls: {redirect: true}}]`,
	taken:    `routes: {parentRefs: [{name: shared}], tls: {redirect: true}}`,
}, {
	name:     "redirect: not where the route would meet it",
	spec:     `routes: [{name: a, hostnames: [a], parentRefs: [{name: own, sectionName: http}], tls: {secretName: own}}, {name: b, hostnames: [b], parentRefs: [{name: own, port: 80}], tls: {secretName: own}}]`,
	defaults: `routes: {tls: {redirect: true}}`,
	merged:   `routes: [{name: a, hostnames: [a], parentRefs: [{name: own, sectionName: http}], tls: {secretName: own}}, {name: b, hostnames: [b], parentRefs: [{name: own, port: 80}], tls: {secretName: own}}]`,
}, {
	name:     "redirect: not under the name of another route",
	spec:     `routes: [{name: a, hostnames: [a], parentRefs: [{name: own}], tls: {secretName: own}}, {name: redirect, hostnames: [b], tls: {secretName: own}}]`,
	defaults: `routes: {tls: {redirect: true}}`,
	merged:   `routes: [{name: a, hostnames: [a], parentRefs: [{name: own}], tls: {secretName: own}}, {name: redirect, hostnames: [b], tls: {secretName: own}}]`,
}, {
	name:     "redirect: said to be none",
	spec:     `routes: [{name: a, hostnames: [a], parentRefs: [{name: own}], tls: {secretName: own, redirect: false}}]`,
	defaults: `routes: {tls: {redirect: true}}`,
	merged:   `routes: [{name: a, hostnames: [a], parentRefs: [{name: own}], tls: {secretName: own, redirect: false}}]`,
}}

var monitoringCases = []mergeCase{{
	name:     "monitoring: all",
	spec:     `ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}]`,
	defaults: `monitoring: {port: metrics, path: /metrics, interval: 30s}`,
	merged:   `{ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}], monitoring: {port: metrics, path: /metrics, interval: 30s}}`,
	taken:    `monitoring: {port: metrics, path: /metrics, interval: 30s}`,
}, {
	name:     "monitoring: an empty one, by the primary port",
	spec:     `ports: [{name: http, containerPort: 8080}]`,
	defaults: `monitoring: {}`,
	merged:   `{ports: [{name: http, containerPort: 8080}], monitoring: {}}`,
	taken:    `monitoring: {}`,
}, {
	name:     "monitoring: what is left open",
	spec:     `{ports: [{name: http, containerPort: 8080}], monitoring: {path: /own}}`,
	defaults: `monitoring: {path: /metrics, interval: 30s}`,
	merged:   `{ports: [{name: http, containerPort: 8080}], monitoring: {path: /own, interval: 30s}}`,
	taken:    `monitoring: {interval: 30s}`,
}, {
	name:     "monitoring: all is set",
	spec:     `{ports: [{name: http, containerPort: 8080}], monitoring: {port: http, path: /own, interval: 1m}}`,
	defaults: `monitoring: {port: metrics, path: /metrics, interval: 30s}`,
	merged:   `{ports: [{name: http, containerPort: 8080}], monitoring: {port: http, path: /own, interval: 1m}}`,
}, {
	name:     "monitoring: none without the port of the class",
	spec:     `ports: [{name: http, containerPort: 8080}]`,
	defaults: `monitoring: {port: metrics}`,
	merged:   `ports: [{name: http, containerPort: 8080}]`,
}, {
	name:     "monitoring: who asks for it without the port of the class keeps the primary one",
	spec:     `{ports: [{name: http, containerPort: 8080}], monitoring: {}}`,
	defaults: `monitoring: {port: metrics, interval: 30s}`,
	merged:   `{ports: [{name: http, containerPort: 8080}], monitoring: {interval: 30s}}`,
	taken:    `monitoring: {interval: 30s}`,
}, {
	name:     "monitoring: no port is one for TCP",
	spec:     `ports: [{name: dns, containerPort: 53, protocol: UDP}]`,
	defaults: `monitoring: {}`,
	merged:   `ports: [{name: dns, containerPort: 53, protocol: UDP}]`,
}, {
	name:     "monitoring: no ports",
	defaults: `monitoring: {}`,
	merged:   ``,
}}
