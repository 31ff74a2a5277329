// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestProbes(t *testing.T) {
	const ports = `
ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9000}]
`
	cases := func(probe string) []fragmentCase {
		return []fragmentCase{
			{"none", ports, ``},
			{"http, to the primary port", ports + probe + `: {httpGet: {}}`, `{httpGet: {path: /, port: http}}`},
			{"http, path without a slash", ports + probe + `: {httpGet: {path: healthz}}`, `{httpGet: {path: /healthz, port: http}}`},
			{"http, complete", ports + probe + `:
  initialDelaySeconds: 1
  timeoutSeconds: 2
  periodSeconds: 3
  successThreshold: 4
  failureThreshold: 5
  terminationGracePeriodSeconds: 6
  httpGet: {path: /healthz, port: 9000, host: example.com, scheme: HTTPS, httpHeaders: [{name: A, value: b}, {name: A, value: ""}]}`, `
initialDelaySeconds: 1
timeoutSeconds: 2
periodSeconds: 3
successThreshold: 4
failureThreshold: 5
terminationGracePeriodSeconds: 6
httpGet: {path: /healthz, port: 9000, host: example.com, scheme: HTTPS, httpHeaders: [{name: A, value: b}, {name: A, value: ""}]}`},
			{"times of zero, which would not come back", ports + probe + `: {initialDelaySeconds: 0, periodSeconds: 0, tcpSocket: {}}`,
				`{tcpSocket: {port: http}}`},
			{"tcp, to another port", ports + probe + `: {tcpSocket: {port: admin, host: example.com}}`, `{tcpSocket: {port: admin, host: example.com}}`},
			{"grpc takes numbers only", ports + probe + `: {grpc: {}}`, `{grpc: {port: 8080}}`},
			{"grpc, complete", ports + probe + `: {grpc: {port: 9000, service: shop}}`, `{grpc: {port: 9000, service: shop}}`},
			{"exec", ports + probe + `: {exec: {command: [cat, /tmp/healthy]}}`, `{exec: {command: [cat, /tmp/healthy]}}`},
			{"invalid: a worker has no primary port", probe + `: {tcpSocket: {}}`, `{tcpSocket: {}}`},
		}
	}
	for _, probe := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		t.Run(probe, func(t *testing.T) {
			checkFragments(t, child.Deployment, applicationPath+"."+probe, cases(probe))
		})
	}
}
