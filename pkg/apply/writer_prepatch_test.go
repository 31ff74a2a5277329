// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

const service = owned + `
spec:
  ports: [{name: http, port: 80, protocol: TCP, targetPort: http}]
`

// exchange returns the patch of a plan after another writer changed port 80 to 81.
func exchange() map[string]any {
	return map[string]any{"spec": map[string]any{"ports": []any{
		map[string]any{"port": int64(81), "protocol": "TCP", "$patch": "delete"},
		map[string]any{"name": "http", "port": int64(80), "protocol": "TCP", "targetPort": "http"},
	}}}
}

// rekeyed returns a fixture with a Service whose port another writer changed, and the step that repairs it.
func rekeyed(t *testing.T) (*fixture, plan.Step) {
	t.Helper()
	f := newFixture(t)
	f.do(f.create(child.Service, service))
	changePort(f, 81)
	step := f.apply(child.Service, service)
	step.PrePatch, step.Drift = exchange(), true
	return f, step
}

func changePort(f *fixture, port int32) {
	applytest.Edit(f.server, child.Service, "shop", "web", func(s *corev1.Service) { s.Spec.Ports[0].Port = port })
}

const restored = "- name: http\n  port: 80\n  protocol: TCP\n  targetPort: http\n"

func TestRekey(t *testing.T) {
	f, step := rekeyed(t)
	f.do(step)
	f.wantStored(child.Service, restored, "spec", "ports")
	if got := f.managers(child.Service); !slices.Contains(got, "fairlead Apply") || slices.Contains(got, "fairlead Update") {
		t.Errorf("the fields are managed by %v", got)
	}
	want := []string{
		"create as fairlead",
		"strategic-patch as fairlead",
		"get", "json-patch as fairlead",
		"apply as fairlead",
	}
	if got := f.requests(); !slices.Equal(got, want) {
		t.Errorf("the requests were %q, want %q", got, want)
	}
	if step.PrePatch["metadata"] != nil {
		t.Error("the step was changed; the plan it came from may be read again")
	}

	// The second time there is no POST to convert, but the exchange makes us the manager of an Update again.
	changePort(f, 82)
	step = f.apply(child.Service, service)
	step.PrePatch = exchange()
	step.PrePatch["spec"].(map[string]any)["ports"].([]any)[0].(map[string]any)["port"] = int64(82)
	f.do(step)
	f.wantStored(child.Service, restored, "spec", "ports")
	if got := f.managers(child.Service); slices.Contains(got, "fairlead Update") {
		t.Errorf("the fields are managed by %v", got)
	}
}

// An apply alone would add our port beside the other writer's. Both would have one name, which the API server
// refuses. The exchange prevents that.
func TestWithoutRekey(t *testing.T) {
	f, step := rekeyed(t)
	step.PrePatch = nil
	if result := f.try(step); !apierrors.IsInvalid(result.Err) {
		t.Errorf("the error is %v; then the exchange is not needed", result.Err)
	}
}

// The Application changed too. The apply replaces our own items itself, so the writer tries it first, and exchanges
// the other writer's items only if the API server refuses it.
func TestRekeyWhereTheApplicationChanged(t *testing.T) {
	const changed = owned + "spec:\n  ports: [{name: http, port: 88, protocol: TCP, targetPort: http}]\n"
	t.Run("and nobody else was there", func(t *testing.T) {
		f := newFixture(t)
		f.do(f.create(child.Service, service))
		step := f.apply(child.Service, changed)
		step.PrePatch = exchange() // Our own old port is a stray too.
		f.do(step)
		f.wantStored(child.Service, "- name: http\n  port: 88\n  protocol: TCP\n  targetPort: http\n", "spec", "ports")
		if got := f.requests(); slices.Contains(got, "strategic-patch as fairlead") {
			t.Errorf("the requests were %q", got)
		}
	})
	t.Run("and others changed the port", func(t *testing.T) {
		f, step := rekeyed(t)
		step.Drift = false
		if result := f.try(step); result.Err != nil && !apierrors.IsConflict(result.Err) {
			t.Fatalf("the error is %v", result.Err)
		}
		// The first attempt converted the POST, so the exchange met a newer version.
		step.Live = f.cached(child.Service)
		f.do(step)
		f.wantStored(child.Service, restored, "spec", "ports")
	})
}

func TestRekeyMeetsAChange(t *testing.T) {
	f, step := rekeyed(t)
	changePort(f, 83)
	if result := f.try(step); !apierrors.IsConflict(result.Err) {
		t.Errorf("the error is %v, want a conflict", result.Err)
	}
	f.wantStored(child.Service, "- name: http\n  port: 83\n  protocol: TCP\n  targetPort: http\n", "spec", "ports")
}
