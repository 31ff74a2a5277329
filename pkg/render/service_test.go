// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestService(t *testing.T) {
	checkFragments(t, child.Service, "spec", []fragmentCase{
		{"a worker has none", ``, ``},
		{"default", `ports: [{name: http, containerPort: 8080}]`, `
type: ClusterIP
sessionAffinity: None
selector: {apps.fairlead.dev/application: web}
ports: [{name: http, port: 8080, targetPort: http, protocol: TCP}]`},
		{"given", `
service: {type: LoadBalancer, sessionAffinity: ClientIP}
ports:
- {name: grpc, containerPort: 8080, servicePort: 80, appProtocol: kubernetes.io/h2c}
- {name: dns, containerPort: 8053, servicePort: 53, protocol: UDP, appProtocol: ""}`, `
type: LoadBalancer
sessionAffinity: ClientIP
selector: {apps.fairlead.dev/application: web}
ports:
- {name: grpc, port: 80, targetPort: grpc, protocol: TCP, appProtocol: kubernetes.io/h2c}
- {name: dns, port: 53, targetPort: dns, protocol: UDP}`},
		{"the names of another Service", `
ports:
- {name: web, containerPort: 8080, servicePort: 80, servicePortName: http}
- {name: admin, containerPort: 8081, servicePortName: ""}`, `
type: ClusterIP
sessionAffinity: None
selector: {apps.fairlead.dev/application: web}
ports:
- {name: http, port: 80, targetPort: web, protocol: TCP}
- {name: admin, port: 8081, targetPort: admin, protocol: TCP}`},
		{"a port without a name", `ports: [{name: http, containerPort: 8080, servicePortName: ""}]`, `
type: ClusterIP
sessionAffinity: None
selector: {apps.fairlead.dev/application: web}
ports: [{port: 8080, targetPort: http, protocol: TCP}]`},
	})
}
