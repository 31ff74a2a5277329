// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"testing"

	"fairlead.dev/fairlead/pkg/child"
)

func TestApplicationContainer(t *testing.T) {
	for _, test := range []struct {
		path  string
		cases []fragmentCase
	}{
		{"name", []fragmentCase{{"that of the Application", `sidecars: [{name: proxy, image: envoy:1}]`, `web`}}},
		{"command", []fragmentCase{{"default", ``, ``}, {"given", `command: [/web, --port, "8080"]`, `[/web, --port, "8080"]`}}},
		{"args", []fragmentCase{{"default", ``, ``}, {"given", `args: [a, ""]`, `[a, ""]`}}},
		{"workingDir", []fragmentCase{{"default", ``, ``}, {"given", `workingDir: /srv`, `/srv`}}},
		{"ports", []fragmentCase{
			{"default", ``, ``},
			{"given", `ports: [{name: http, containerPort: 8080, servicePort: 80}, {name: dns, containerPort: 53, protocol: UDP}]`,
				`[{name: http, containerPort: 8080, protocol: TCP}, {name: dns, containerPort: 53, protocol: UDP}]`},
		}},
		{"env", []fragmentCase{
			{"default", ``, ``},
			{"in the given order", `env: [{name: B, value: b}, {name: A, value: $(B)}, {name: EMPTY, value: ""}]`,
				`[{name: B, value: b}, {name: A, value: $(B)}, {name: EMPTY}]`},
		}},
		{"envFrom", []fragmentCase{
			{"default", ``, ``},
			{"given", `envFrom: [{prefix: A_, configMapRef: {name: a}}, {secretRef: {name: b, optional: true}}]`,
				`[{prefix: A_, configMapRef: {name: a}}, {secretRef: {name: b, optional: true}}]`},
		}},
		{"resources", []fragmentCase{
			{"default", ``, ``},
			{"empty", `resources: {}`, ``},
			{"canonical", `resources: {requests: {cpu: 0.5, memory: 1024Mi}, limits: {cpu: 1000m, memory: 2147483648}}`,
				`{requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: "1", memory: "2147483648"}}`},
			{"rounded up as the API server does", `resources: {requests: {cpu: 100u}, limits: {cpu: 1500u}}`,
				`{requests: {cpu: 1m}, limits: {cpu: 2m}}`},
			{"claims", `resources: {claims: [{name: gpu, request: one}]}`, `{claims: [{name: gpu, request: one}]}`},
		}},
	} {
		t.Run(test.path, func(t *testing.T) {
			checkFragments(t, child.Deployment, applicationPath+"."+test.path, test.cases)
		})
	}
}

func TestFurtherContainers(t *testing.T) {
	const security = `{allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}`
	cases := func(list string) []fragmentCase {
		return []fragmentCase{
			{"the smallest", list + `: [{name: helper, image: "helper:1"}]`,
				`{name: helper, image: "helper:1", imagePullPolicy: IfNotPresent, securityContext: ` + security + `}`},
			{"completed", list + `:
- name: helper
  image: helper
  restartPolicy: Always
  ports: [{containerPort: 9000}, {containerPort: 9000, protocol: UDP}]
  resources: {limits: {cpu: 1500u}}
  readinessProbe: {periodSeconds: 0, httpGet: {port: 9000}}
  volumeMounts: [{name: tmp, mountPath: /tmp, readOnly: false}]`, `
name: helper
image: helper
imagePullPolicy: Always
restartPolicy: Always
ports: [{containerPort: 9000, protocol: TCP}, {containerPort: 9000, protocol: UDP}]
resources: {limits: {cpu: 2m}}
readinessProbe: {httpGet: {port: 9000}}
volumeMounts: [{name: tmp, mountPath: /tmp}]
securityContext: ` + security},
		}
	}
	t.Run("sidecars", func(t *testing.T) {
		checkFragments(t, child.Deployment, podPath+".containers[1]", cases("sidecars"))
	})
	t.Run("init containers", func(t *testing.T) {
		checkFragments(t, child.Deployment, podPath+".initContainers[0]", cases("initContainers"))
	})
}
