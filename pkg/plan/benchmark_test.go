// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render"
)

// sixChildren is an ordinary Application: ServiceAccount, ConfigMap, Deployment, Service,
// PodDisruptionBudget and Ingress.
const sixChildren = `
image: ghcr.io/acme/web:1.2
ports: [{name: http, containerPort: 8080, servicePort: 80}]
replicas: 2
env: [{name: LOG_LEVEL, value: info}, {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
config: {mountPath: /etc/web, data: {web.yaml: 'a: 1'}}
readinessProbe: {httpGet: {path: /healthz}}
livenessProbe: {httpGet: {path: /healthz}}
resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}
routes: [{name: public, hostnames: [web.example.com], tls: {secretName: web-tls}}]
`

// BenchmarkRenderAndPlan is the core of a sync that finds nothing to do. A resync pays it once for
// each Application: at 500 µs ten thousand of them take 5 s of CPU.
func BenchmarkRenderAndPlan(b *testing.B) {
	snapshot := settled(b, application(b, sixChildren))
	decorate(snapshot)
	spec, err := json.Marshal(snapshot.Application.Spec)
	if err != nil {
		b.Fatal(err)
	}
	facts := facts()
	facts.Revision.Data = fmt.Appendf(nil, `{"spec":%s}`, spec)
	desired, err := render.Children(snapshot.Application, facts)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range desired {
		if d.Kind == child.ControllerRevision {
			snapshot.Children[d.Ref] = stored(b, d)
		}
	}
	if len(snapshot.Children) != 7 { // Those that serve, and the current revision.
		b.Fatalf("%d children", len(snapshot.Children))
	}
	b.Run("render", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := render.Children(snapshot.Application, facts); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("plan", func(b *testing.B) {
		in := plan.Input{Snapshot: snapshot, Desired: desired}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := plan.Compute(differ, in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("both", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			desired, err := render.Children(snapshot.Application, facts)
			if err != nil {
				b.Fatal(err)
			}
			steps, err := plan.Compute(differ, plan.Input{Snapshot: snapshot, Desired: desired})
			if err != nil {
				b.Fatal(err)
			}
			for _, step := range steps {
				if step.Action != plan.Keep {
					b.Fatalf("%s %s", step.Action, step.Ref)
				}
			}
		}
	})
}
