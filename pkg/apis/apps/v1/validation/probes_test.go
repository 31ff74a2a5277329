// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import "testing"

func TestProbes(t *testing.T) {
	run(t, []testCase{{
		name: "the primary port is the default",
		spec: `{ports: [{name: http, containerPort: 80}], livenessProbe: {httpGet: {}}, readinessProbe: {tcpSocket: {}, successThreshold: 3, failureThreshold: 1}, startupProbe: {grpc: {}, initialDelaySeconds: 0, successThreshold: 1}}`,
	}, {
		name: "numbers need no ports",
		spec: `{livenessProbe: {httpGet: {path: healthz, port: 8080, scheme: HTTPS, httpHeaders: [{name: X-A, value: b}]}}, readinessProbe: {exec: {command: [ok]}}}`,
	}, {
		name: "handlers",
		spec: `{livenessProbe: {}, readinessProbe: {exec: {}, tcpSocket: {port: 80}}}`,
		want: []string{
			`spec.livenessProbe: Required value: exactly one of exec, httpGet, tcpSocket, grpc must be set`,
			`spec.readinessProbe: Forbidden: exactly one of exec, httpGet, tcpSocket, grpc may be set: keep one of exec, tcpSocket`,
			`spec.readinessProbe.exec.command: Required value: must have at least the program to run`,
		},
	}, {
		name: "ports without ports",
		spec: `{livenessProbe: {httpGet: {}}, readinessProbe: {tcpSocket: {port: http}}, startupProbe: {grpc: {port: 0}}}`,
		want: []string{
			`spec.livenessProbe.httpGet.port: Required value: there is no primary port to default to: name a number, or add ports`,
			`spec.readinessProbe.tcpSocket.port: Invalid value: "http": must be a number, because no port of the container has a name`,
			`spec.startupProbe.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive`,
		},
	}, {
		name: "ports that cannot be probed",
		spec: `{ports: [{name: dns, containerPort: 53, protocol: UDP}, {name: http, containerPort: 80}], livenessProbe: {httpGet: {}}, readinessProbe: {tcpSocket: {port: dns}}, startupProbe: {httpGet: {port: "80"}}}`,
		want: []string{
			`spec.livenessProbe.httpGet.port: Required value: the primary port "dns" is UDP and cannot be probed: name a TCP port`,
			`spec.readinessProbe.tcpSocket.port: Invalid value: "dns": must be a TCP port, not UDP`,
			`spec.startupProbe.httpGet.port: Invalid value: "80": a number must not be quoted: write 80`,
		},
	}, {
		name: "times and thresholds",
		spec: `
livenessProbe: {exec: {command: [a]}, initialDelaySeconds: -1, timeoutSeconds: 0, periodSeconds: -1, successThreshold: 2, failureThreshold: 0, terminationGracePeriodSeconds: 0}
readinessProbe: {exec: {command: [a]}, successThreshold: 0, terminationGracePeriodSeconds: 1}
startupProbe: {exec: {command: [a]}, successThreshold: 2}`,
		want: []string{
			`spec.livenessProbe.initialDelaySeconds: Invalid value: -1: must be greater than or equal to 0`,
			`spec.livenessProbe.timeoutSeconds: Invalid value: 0: must be greater than 0`,
			`spec.livenessProbe.periodSeconds: Invalid value: -1: must be greater than 0`,
			`spec.livenessProbe.failureThreshold: Invalid value: 0: must be greater than 0`,
			`spec.livenessProbe.successThreshold: Invalid value: 2: must be 1 for livenessProbe`,
			`spec.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
			`spec.readinessProbe.successThreshold: Invalid value: 0: must be greater than 0`,
			`spec.readinessProbe.terminationGracePeriodSeconds: Forbidden: must not be set for readinessProbe, which never ends the container`,
			`spec.startupProbe.successThreshold: Invalid value: 2: must be 1 for startupProbe`,
		},
	}, {
		name: "requests",
		spec: `{livenessProbe: {httpGet: {port: 80, path: "/a\n", scheme: FTP, httpHeaders: [{name: "", value: x}, {name: a b, value: x}, {name: A, value: "x\r\ny"}]}}}`,
		want: []string{
			`spec.livenessProbe.httpGet.scheme: Unsupported value: "FTP": supported values: "HTTP", "HTTPS"`,
			`spec.livenessProbe.httpGet.path: Invalid value: "/a\n": must not contain control characters`,
			`spec.livenessProbe.httpGet.httpHeaders[0].name: Invalid value: "": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name')`,
			`spec.livenessProbe.httpGet.httpHeaders[1].name: Invalid value: "a b": a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name')`,
			`spec.livenessProbe.httpGet.httpHeaders[2].value: Invalid value: "x\r\ny": must not contain control characters`,
		},
	}})
}

func TestLifecycle(t *testing.T) {
	run(t, []testCase{{
		name: "empty means none",
		spec: `lifecycle: {}`,
	}, {
		name: "a sleep as long as the grace period",
		spec: `{terminationGracePeriodSeconds: 60, lifecycle: {preStop: {sleep: {seconds: 60}}}}`,
	}, {
		name: "the default grace period",
		spec: `lifecycle: {preStop: {sleep: {seconds: 31}}, postStart: {sleep: {seconds: -1}}}`,
		want: []string{
			`spec.lifecycle.postStart.sleep.seconds: Invalid value: -1: must be between 0 and terminationGracePeriodSeconds (30)`,
			`spec.lifecycle.preStop.sleep.seconds: Invalid value: 31: must be between 0 and terminationGracePeriodSeconds (30)`,
		},
	}, {
		name: "handlers",
		spec: `{ports: [{name: http, containerPort: 80}], lifecycle: {postStart: {}, preStop: {exec: {command: []}, httpGet: {port: https, scheme: X}}}}`,
		want: []string{
			`spec.lifecycle.postStart: Required value: exactly one of exec, httpGet, sleep must be set`,
			`spec.lifecycle.preStop: Forbidden: exactly one of exec, httpGet, sleep may be set: keep one of exec, httpGet`,
			`spec.lifecycle.preStop.exec.command: Required value: must have at least the program to run`,
			`spec.lifecycle.preStop.httpGet.port: Unsupported value: "https": supported values: "http"`,
			`spec.lifecycle.preStop.httpGet.scheme: Unsupported value: "X": supported values: "HTTP", "HTTPS"`,
		},
	}, {
		name: "what never works",
		spec: `lifecycle: {preStop: {tcpSocket: {port: 80}}, stopSignal: SIGUSR1}`,
		want: []string{
			`spec.lifecycle.preStop.tcpSocket: Forbidden: Kubernetes accepts it and it always fails: use exec, httpGet or sleep`,
			`spec.lifecycle.stopSignal: Forbidden: Kubernetes takes a stop signal only with the pod's os.name, which an Application does not set: use STOPSIGNAL of the image, or preStop`,
		},
	}, {
		name: "HTTP/2",
		spec: `
lifecycle: {preStop: {httpGet: {port: 80, protocol: HTTP2}}, postStart: {httpGet: {port: 80, protocol: HTTP1, scheme: HTTPS}}}
sidecars:
- {name: a, image: a, lifecycle: {preStop: {httpGet: {port: 80, protocol: HTTP2, scheme: HTTPS}}}}
- {name: b, image: b, livenessProbe: {httpGet: {port: 80, protocol: HTTP3}}}`,
		want: []string{
			`spec.sidecars[0].lifecycle.preStop.httpGet.protocol: Invalid value: "HTTP2": needs scheme HTTP`,
			`spec.sidecars[1].livenessProbe.httpGet.protocol: Unsupported value: "HTTP3": supported values: "HTTP1", "HTTP2"`,
		},
	}, {
		name:    "HTTP/2 to another host",
		profile: "privileged",
		spec:    `lifecycle: {preStop: {httpGet: {port: 80, protocol: HTTP2, host: a}}}`,
		want:    []string{`spec.lifecycle.preStop.httpGet.host: Invalid value: "a": must be empty with protocol HTTP2`},
	}})
}
