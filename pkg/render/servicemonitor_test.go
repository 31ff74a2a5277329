// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestServiceMonitorEndpoint(t *testing.T) {
	checkFragments(t, child.ServiceMonitor, "spec.endpoints", []fragmentCase{
		{"by the name of the port", `
ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}]
monitoring: {port: metrics}`, `[{port: metrics, path: /metrics}]`},
		{"by the name that the Service has for it", `
ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090, servicePortName: http-metrics}]
monitoring: {port: metrics}`, `[{port: http-metrics, path: /metrics}]`},
		{"by the name of the container's port, if the Service has none", `
ports: [{name: metrics, containerPort: 9090, servicePortName: ""}]
monitoring: {}`, `[{targetPort: metrics, path: /metrics}]`},
	})
}
