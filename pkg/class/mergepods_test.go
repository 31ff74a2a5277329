// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

var schedulingCases = []mergeCase{{
	name:     "topologySpreadConstraints",
	defaults: `topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]`,
	merged:   `topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]`,
	taken:    `topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]`,
}, {
	name:     "topologySpreadConstraints: replaced",
	spec:     `topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]`,
	defaults: `topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]`,
	merged:   `topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}]`,
}, {
	name:     "nodeSelector: by label",
	spec:     `nodeSelector: {pool: gpu, empty: ""}`,
	defaults: `nodeSelector: {pool: general, empty: "no", arch: arm64}`,
	merged:   `nodeSelector: {pool: gpu, empty: "", arch: arm64}`,
	taken:    `nodeSelector: {arch: arm64}`,
}, {
	name:     "tolerations: added at the end, each once",
	spec:     `tolerations: [{key: gpu, operator: Exists}, {key: spot, operator: Exists}]`,
	defaults: `tolerations: [{key: spot, operator: Exists}, {key: spot, operator: Equal, value: "yes"}]`,
	merged:   `tolerations: [{key: gpu, operator: Exists}, {key: spot, operator: Exists}, {key: spot, operator: Equal, value: "yes"}]`,
	taken:    `tolerations: [{key: spot, operator: Equal, value: "yes"}]`,
}, {
	name:     "priorityClassName",
	defaults: `priorityClassName: low`,
	merged:   `priorityClassName: low`,
	taken:    `priorityClassName: low`,
}, {
	name:     "priorityClassName: set",
	spec:     `priorityClassName: high`,
	defaults: `priorityClassName: low`,
	merged:   `priorityClassName: high`,
}}

var podCases = []mergeCase{{
	name:     "imagePullSecrets: added at the end, each once",
	spec:     `imagePullSecrets: [{name: own}, {name: both}]`,
	defaults: `imagePullSecrets: [{name: both}, {name: platform}]`,
	merged:   `imagePullSecrets: [{name: own}, {name: both}, {name: platform}]`,
	taken:    `imagePullSecrets: [{name: platform}]`,
}, {
	name:     "podMetadata: by label and annotation",
	spec:     `podMetadata: {labels: {tier: web}}`,
	defaults: `podMetadata: {labels: {tier: any, team: shop}, annotations: {note: hello}}`,
	merged:   `podMetadata: {labels: {tier: web, team: shop}, annotations: {note: hello}}`,
	taken:    `podMetadata: {labels: {team: shop}, annotations: {note: hello}}`,
}, {
	name:     "podMetadata: all are set",
	spec:     `podMetadata: {labels: {tier: web}}`,
	defaults: `podMetadata: {labels: {tier: any}}`,
	merged:   `podMetadata: {labels: {tier: web}}`,
}}

var routeCases = []mergeCase{{
	name:     "routes: each takes what it leaves open",
	spec:     `routes: [{name: a, hostnames: [a.example.com]}, {name: b, hostnames: [b.example.com], ingressClassName: own, tls: {secretName: own}, annotations: {one: own}}]`,
	defaults: `routes: {ingressClassName: nginx, tls: {secretName: wildcard}, annotations: {one: "1", two: "2"}}`,
	merged: `routes: [
      {name: a, hostnames: [a.example.com], ingressClassName: nginx, tls: {secretName: wildcard}, annotations: {one: "1", two: "2"}},
      {name: b, hostnames: [b.example.com], ingressClassName: own, tls: {secretName: own}, annotations: {one: own, two: "2"}}]`,
	taken: `routes: {ingressClassName: nginx, tls: {secretName: wildcard}, annotations: {one: "1", two: "2"}}`,
}, {
	name:     "routes: a Secret of their own",
	spec:     `routes: [{name: a, hostnames: [a.example.com]}, {name: b, hostnames: [b.example.com]}]`,
	defaults: `routes: {tls: {}}`,
	merged:   `routes: [{name: a, hostnames: [a.example.com], tls: {secretName: web-a-tls}}, {name: b, hostnames: [b.example.com], tls: {secretName: web-b-tls}}]`,
	taken:    `routes: {tls: {}}`,
}, {
	name:     "routes: the old way to name an IngressClass is one",
	spec:     `routes: [{name: a, hostnames: [a.example.com], annotations: {kubernetes.io/ingress.class: own}}]`,
	defaults: `routes: {ingressClassName: nginx}`,
	merged:   `routes: [{name: a, hostnames: [a.example.com], annotations: {kubernetes.io/ingress.class: own}}]`,
}, {
	name:     "routes: there are none",
	defaults: `routes: {ingressClassName: nginx}`,
	merged:   ``,
}}

var networkPolicyCases = []mergeCase{{
	name:     "networkPolicy: an empty one",
	defaults: `networkPolicy: {}`,
	merged:   `networkPolicy: {}`,
	taken:    `networkPolicy: {}`,
}, {
	name:     "networkPolicy: replaced, by an empty one too",
	spec:     `networkPolicy: {}`,
	defaults: `networkPolicy: {egress: [{to: [{application: {name: db}}]}]}`,
	merged:   `networkPolicy: {}`,
}, {
	name: "networkPolicy: fitted to the ports that there are",
	spec: `ports: [{name: http, containerPort: 8080}]`,
	defaults: `networkPolicy: {ingress: [
      {from: [{application: {name: a}}], ports: [http, metrics]},
      {from: [{application: {name: b}}], ports: [metrics]},
      {from: [{application: {name: c}}]}]}`,
	merged: `{ports: [{name: http, containerPort: 8080}], networkPolicy: {ingress: [
      {from: [{application: {name: a}}], ports: [http]},
      {from: [{application: {name: c}}]}]}}`,
	taken: `networkPolicy: {ingress: [
      {from: [{application: {name: a}}], ports: [http]},
      {from: [{application: {name: c}}]}]}`,
}}
