// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestPorts(t *testing.T) {
	run(t, []testCase{{
		name: "one number, two protocols",
		spec: `ports: [{name: dns, containerPort: 53, protocol: UDP}, {name: dns-tcp, containerPort: 53}]`,
	}, {
		name: "one service port for two protocols",
		spec: `ports: [{name: a, containerPort: 1, servicePort: 53, protocol: UDP}, {name: b, containerPort: 2, servicePort: 53}]`,
	}, {
		name: "an empty appProtocol is none",
		spec: `ports: [{name: a, containerPort: 1, appProtocol: ""}]`,
	}, {
		name: "names",
		spec: `ports: [{containerPort: 1}, {name: a, containerPort: 2}, {name: a, containerPort: 3}, {name: "80", containerPort: 4}, {name: a--b, containerPort: 5}, {name: sixteen-letters-, containerPort: 6}]`,
		want: []string{
			`spec.ports[0].name: Required value: must be an IANA service name, e.g. http`,
			`spec.ports[2].name: Duplicate value: "a": spec.ports[1].name has it too`,
			`spec.ports[3].name: Invalid value: "80": must contain at least one letter (a-z)`,
			`spec.ports[4].name: Invalid value: "a--b": must not contain consecutive hyphens`,
			`spec.ports[5].name: Invalid value: "sixteen-letters-": must be no more than 15 characters`,
			`spec.ports[5].name: Invalid value: "sixteen-letters-": must not begin or end with a hyphen`,
		},
	}, {
		name: "numbers",
		spec: `ports: [{name: a, containerPort: 0}, {name: b, containerPort: 65536, servicePort: -1, protocol: ICMP, appProtocol: "a b"}]`,
		want: []string{
			`spec.ports[0].containerPort: Invalid value: 0: must be between 1 and 65535, inclusive`,
			`spec.ports[1].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
			`spec.ports[1].servicePort: Invalid value: -1: must be between 1 and 65535, inclusive`,
			`spec.ports[1].protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"`,
			`spec.ports[1].appProtocol: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName' or 'my.name' or '123-abc')`,
		},
	}, {
		name: "names of the Service's ports",
		spec: `ports: [{name: a, containerPort: 1, servicePortName: "8080"}, {name: b, containerPort: 2, servicePortName: longer-than-fifteen-letters}, {name: c, containerPort: 3}]`,
	}, {
		name: "the port of the Service without a name",
		spec: `ports: [{name: a, containerPort: 1, servicePortName: ""}]`,
	}, {
		name: "two ports of the Service exchange their names",
		spec: `ports: [{name: a, containerPort: 1, servicePortName: b}, {name: b, containerPort: 2, servicePortName: a}]`,
	}, {
		name: "wrong names of the Service's ports",
		spec: `ports: [{name: a, containerPort: 1, servicePortName: b}, {name: b, containerPort: 2}, {name: c, containerPort: 3, servicePortName: ""}, {name: d, containerPort: 4, servicePortName: A}, {name: e, containerPort: 5, servicePortName: x}, {name: f, containerPort: 6, servicePortName: x}]`,
		want: []string{
			`spec.ports[0].servicePortName: Duplicate value: "b": spec.ports[1].name has it too: set another servicePortName, which defaults to name`,
			`spec.ports[2].servicePortName: Required value: it may be empty only if there is a single port`,
			`spec.ports[3].servicePortName: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name' or '123-abc')`,
			`spec.ports[5].servicePortName: Duplicate value: "x": spec.ports[4].servicePortName has it too: set another servicePortName, which defaults to name`,
		},
	}, {
		name: "duplicate numbers",
		spec: `ports: [{name: a, containerPort: 80}, {name: b, containerPort: 80, servicePort: 81}, {name: c, containerPort: 81}, {name: d, containerPort: 82, servicePort: 80, protocol: TCP}]`,
		want: []string{
			`spec.ports[1].containerPort: Duplicate value: "80/TCP": spec.ports[0].containerPort has it too`,
			`spec.ports[2].containerPort: Duplicate value: "81/TCP": spec.ports[1].servicePort has it too: set another servicePort, which defaults to containerPort`,
			`spec.ports[3].servicePort: Duplicate value: "80/TCP": spec.ports[0].containerPort has it too: set another servicePort, which defaults to containerPort`,
		},
	}})
}

func TestContainerPorts(t *testing.T) {
	run(t, []testCase{{
		name: "of other containers",
		spec: `
ports: [{name: http, containerPort: 80}]
initContainers: [{name: i, image: i, ports: [{name: http, containerPort: 80}]}]
sidecars: [{name: s, image: s, ports: [{containerPort: 81}, {containerPort: 82}, {name: udp, containerPort: 80, protocol: UDP}]}]`,
	}, {
		name: "in one container",
		spec: `sidecars: [{name: s, image: s, ports: [{name: a, containerPort: 81}, {name: a, containerPort: 0}, {name: A, containerPort: 81, protocol: X, hostIP: 1.2.3}]}]`,
		want: []string{
			`spec.sidecars[0].ports[1].name: Duplicate value: "a": spec.sidecars[0].ports[0].name has it too`,
			`spec.sidecars[0].ports[1].containerPort: Invalid value: 0: must be between 1 and 65535, inclusive`,
			`spec.sidecars[0].ports[2].name: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
			`spec.sidecars[0].ports[2].name: Invalid value: "A": must contain at least one letter (a-z)`,
			`spec.sidecars[0].ports[2].protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"`,
			`spec.sidecars[0].ports[2].hostIP: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)`,
		},
	}, {
		name: "twice in one container",
		spec: `sidecars: [{name: s, image: s, ports: [{containerPort: 81}, {containerPort: 81, protocol: TCP}]}]`,
		want: []string{`spec.sidecars[0].ports[1].containerPort: Duplicate value: "81/TCP": spec.sidecars[0].ports[0].containerPort has it too`},
	}, {
		name: "across containers that run side by side",
		spec: `
ports: [{name: http, containerPort: 80}]
initContainers: [{name: i, image: i, restartPolicy: Always, ports: [{name: http, containerPort: 81}]}]
sidecars: [{name: s, image: s, ports: [{name: more, containerPort: 80}]}, {name: t, image: t, ports: [{containerPort: 81}]}]`,
		want: []string{
			`spec.initContainers[0].ports[0].name: Duplicate value: "http": spec.ports[0].name has it too`,
			`spec.sidecars[0].ports[0].containerPort: Duplicate value: "80/TCP": spec.ports[0].containerPort has it too`,
			`spec.sidecars[1].ports[0].containerPort: Duplicate value: "81/TCP": spec.initContainers[0].ports[0].containerPort has it too`,
		},
	}, {
		name:    "host ports",
		profile: "privileged",
		spec:    `sidecars: [{name: s, image: s, ports: [{containerPort: 1, hostPort: 65536}, {containerPort: 2, hostPort: 80}]}, {name: t, image: t, ports: [{containerPort: 3, hostPort: 80}, {containerPort: 4, hostPort: 80, protocol: UDP}]}]`,
		want: []string{
			`spec.sidecars[0].ports[0].hostPort: Invalid value: 65536: must be between 1 and 65535, inclusive`,
			`spec.sidecars[1].ports[0].hostPort: Duplicate value: "/80/TCP": spec.sidecars[0].ports[1].hostPort has it too`,
		},
	}})
}
