// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

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

// nothingToDo is a sync that finds all children as they are rendered: the most frequent one.
type nothingToDo struct {
	snapshot child.Snapshot
	facts    render.Facts
}

func newNothingToDo(tb testing.TB) nothingToDo {
	tb.Helper()
	s := nothingToDo{snapshot: settled(tb, application(tb, sixChildren)), facts: facts()}
	decorate(s.snapshot)
	spec, err := json.Marshal(s.snapshot.Application.Spec)
	if err != nil {
		tb.Fatal(err)
	}
	s.facts.Revision.Data = fmt.Appendf(nil, `{"spec":%s}`, spec)
	for _, d := range s.render(tb) {
		if d.Kind == child.ControllerRevision {
			s.snapshot.Children[d.Ref] = stored(tb, d)
		}
	}
	if len(s.snapshot.Children) != 7 { // Those that serve, and the current revision.
		tb.Fatalf("%d children", len(s.snapshot.Children))
	}
	return s
}

func (s nothingToDo) render(tb testing.TB) []child.Desired {
	desired, err := render.Children(s.snapshot.Application, s.facts)
	if err != nil {
		tb.Fatal(err)
	}
	return desired
}

func (s nothingToDo) plan(tb testing.TB, desired []child.Desired) {
	steps, err := plan.Compute(differ, plan.Input{Snapshot: s.snapshot, Desired: desired})
	if err != nil {
		tb.Fatal(err)
	}
	for _, step := range steps {
		if step.Action != plan.Keep {
			tb.Fatalf("%s %s", step.Action, step.Ref)
		}
	}
}

// BenchmarkWarm reads the schemas, as each start does once.
func BenchmarkWarm(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		plan.NewDiffer(scheme.Scheme).Warm()
	}
}

// BenchmarkRenderAndPlan is the core of a sync. A restart pays it once for each Application.
func BenchmarkRenderAndPlan(b *testing.B) {
	s := newNothingToDo(b)
	desired := s.render(b)
	measure := func(name string, run func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run()
			}
		})
	}
	measure("render", func() { s.render(b) })
	measure("plan", func() { s.plan(b, desired) })
	measure("both", func() { s.plan(b, s.render(b)) })
}

// The same work takes more or less time from machine to machine, but always the same allocations.
func TestAllocationBudget(t *testing.T) {
	const budget = 1200
	s := newNothingToDo(t)
	if got := testing.AllocsPerRun(50, func() { s.plan(t, s.render(t)) }); got > budget {
		t.Errorf("rendering and comparing seven children takes %.0f allocations, more than %d", got, budget)
	}
}
