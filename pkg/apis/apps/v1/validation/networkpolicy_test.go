// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestNetworkPolicy(t *testing.T) {
	run(t, []testCase{{
		name: "empty denies",
		spec: `networkPolicy: {}`,
	}, {
		name: "everyone, as the message for nobody has it",
		spec: `networkPolicy: {ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]}], egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]}]}`,
	}, {
		name: "everyone, and pods",
		spec: `networkPolicy: {ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}, {podSelector: {}}, {namespaceSelector: {}}]}]}`,
	}, {
		name: "nobody",
		spec: `networkPolicy: {ingress: [{from: []}, {}], egress: [{to: []}]}`,
		want: []string{
			`spec.networkPolicy.ingress[0].from: Required value: must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]`,
			`spec.networkPolicy.ingress[1].from: Required value: must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]`,
			`spec.networkPolicy.egress[0].to: Required value: must have at least one peer: to allow everyone, write [{ipBlock: {cidr: 0.0.0.0/0}}, {ipBlock: {cidr: "::/0"}}]`,
		},
	}, {
		name: "peers",
		spec: `networkPolicy: {ingress: [{from: [{}, {application: {name: a}, podSelector: {}}, {application: {}}, {application: {name: 1a, namespace: A}}, {podSelector: {matchLabels: {a: b c}}, namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}]}]}`,
		want: []string{
			`spec.networkPolicy.ingress[0].from[0]: Required value: exactly one of application, ipBlock, podSelector and/or namespaceSelector must be set`,
			`spec.networkPolicy.ingress[0].from[1]: Forbidden: exactly one of application, ipBlock, podSelector and/or namespaceSelector may be set: keep one of application, podSelector and/or namespaceSelector`,
			`spec.networkPolicy.ingress[0].from[2].application.name: Required value: must be the name of an Application`,
			`spec.networkPolicy.ingress[0].from[3].application.name: Invalid value: "1a": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name' or 'abc-123')`,
			`spec.networkPolicy.ingress[0].from[3].application.namespace: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name' or '123-abc')`,
			`spec.networkPolicy.ingress[0].from[4].podSelector.matchLabels[a]: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue' or 'my_value' or '12345')`,
			"spec.networkPolicy.ingress[0].from[4].namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
		},
	}, {
		name: "blocks",
		spec: `networkPolicy: {egress: [{to: [{ipBlock: {}}, {ipBlock: {cidr: 10.0.0.1}}, {ipBlock: {cidr: 10.0.0.1/8}}, {ipBlock: {cidr: 010.0.0.0/8}}, {ipBlock: {cidr: 10.0.0.0/8, except: [10.0.0.0/8, 11.0.0.0/16, "::/0", x, 10.1.0.0/16]}}, {ipBlock: {cidr: "::ffff:10.0.0.0/104"}}]}]}`,
		want: []string{
			`spec.networkPolicy.egress[0].to[0].ipBlock.cidr: Required value: must be a block of addresses, e.g. 10.0.0.0/8`,
			`spec.networkPolicy.egress[0].to[1].ipBlock.cidr: Invalid value: "10.0.0.1": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
			`spec.networkPolicy.egress[0].to[2].ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length`,
			`spec.networkPolicy.egress[0].to[3].ipBlock.cidr: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length`,
			`spec.networkPolicy.egress[0].to[4].ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of cidr (10.0.0.0/8)`,
			`spec.networkPolicy.egress[0].to[4].ipBlock.except[1]: Invalid value: "11.0.0.0/16": must be a strict subset of cidr (10.0.0.0/8)`,
			`spec.networkPolicy.egress[0].to[4].ipBlock.except[2]: Invalid value: "::/0": must be a strict subset of cidr (10.0.0.0/8)`,
			`spec.networkPolicy.egress[0].to[4].ipBlock.except[3]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
			`spec.networkPolicy.egress[0].to[5].ipBlock.cidr: Invalid value: "::ffff:10.0.0.0/104": must not have an IPv4-mapped IPv6 address`,
		},
	}, {
		name: "ingress ports",
		spec: `{ports: [{name: http, containerPort: 80}], networkPolicy: {ingress: [{from: [{podSelector: {}}], ports: [http, https, http]}]}}`,
		want: []string{
			`spec.networkPolicy.ingress[0].ports[1]: Unsupported value: "https": supported values: "http"`,
			`spec.networkPolicy.ingress[0].ports[2]: Duplicate value: "http": spec.networkPolicy.ingress[0].ports[0] has it too`,
		},
	}, {
		name: "ingress ports of a worker",
		spec: `networkPolicy: {ingress: [{from: [{podSelector: {}}], ports: [http]}]}`,
		want: []string{`spec.networkPolicy.ingress[0].ports[0]: Invalid value: "http": the application has no ports`},
	}, {
		name: "egress ports",
		spec: `networkPolicy: {egress: [{to: [{podSelector: {}}], ports: [{port: 0}, {port: 1, endPort: 65535}, {port: 2, endPort: 1}, {port: 3, endPort: 65536, protocol: X}, {port: http, endPort: 80}, {port: ""}, {port: "80"}]}]}`,
		want: []string{
			`spec.networkPolicy.egress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive`,
			`spec.networkPolicy.egress[0].ports[2].endPort: Invalid value: 1: must not be less than port (2)`,
			`spec.networkPolicy.egress[0].ports[3].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"`,
			`spec.networkPolicy.egress[0].ports[3].endPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
			`spec.networkPolicy.egress[0].ports[4].endPort: Invalid value: 80: needs a numeric port`,
			`spec.networkPolicy.egress[0].ports[5].port: Required value: must be an IANA service name, e.g. http`,
			`spec.networkPolicy.egress[0].ports[6].port: Invalid value: "80": a number must not be quoted: write 80`,
		},
	}})
}
