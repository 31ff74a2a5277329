// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/screen"
	"fairlead.dev/fairlead/pkg/child"
)

// TestTreeOfUnreadable: what the user may not list is left out and named. What status says of a failed write stays.
func TestTreeOfUnreadable(t *testing.T) {
	forbid := func(loaded *cluster.Loaded, resources ...string) {
		for _, resource := range resources {
			loaded.Unreadable[resource] = errors.New("forbidden")
		}
		loaded.Children = slices.DeleteFunc(loaded.Children, func(live child.Object) bool {
			return slices.Contains(resources, strings.ToLower(live.GetObjectKind().GroupVersionKind().Kind)+"s")
		})
	}
	draw := func(loaded *cluster.Loaded) string {
		var out bytes.Buffer
		newRoot(loaded).print(screen.Fixed(&out, 160, false), "shop/cart", false)
		return out.String()
	}
	loaded := clustertest.Load(t, "healthy")
	forbid(loaded, "services", "deployments", "endpointslices", "events")
	loaded.EndpointSlices = nil
	text := draw(loaded)
	for _, want := range []string{"shop/cart  Healthy", "\n  Not shown: you may not list deployments, endpointslices, services\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"Application/", "Deployment/", "Service/", "Missing", "events"} {
		if strings.Contains(text, not) {
			t.Errorf("%q in\n%s", not, text)
		}
	}
	loaded = clustertest.Load(t, "healthy")
	forbid(loaded, "endpointslices")
	loaded.EndpointSlices = nil
	if text := draw(loaded); strings.Contains(text, "NoEndpoints") || !strings.Contains(text, "Service/cart  Healthy") {
		t.Errorf("without EndpointSlices:\n%s", text)
	}
	loaded = clustertest.Load(t, "conflict")
	forbid(loaded, "services")
	if text := draw(loaded); !strings.Contains(text, "Service/web  Degraded Conflict") {
		t.Errorf("a conflict:\n%s", text)
	}
	loaded = clustertest.Load(t, "healthy")
	loaded.Children = nil
	if text := draw(loaded); !strings.Contains(text, "Missing NotFound") || strings.Contains(text, "Not shown") {
		t.Errorf("without children:\n%s", text)
	}
}

// TestTreeForPrograms: the fields of the tree stay, beside those of the root alone.
func TestTreeForPrograms(t *testing.T) {
	loaded := clustertest.Load(t, "healthy")
	loaded.Unreadable["pods"] = errors.New("forbidden")
	encoded, err := json.Marshal(newRoot(loaded))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"namespace":"default","group":"apps.fairlead.dev","kind":"Application","name":"cart","health":"Healthy"`, `,"children":[`, `,"unreadable":["pods"]}`} {
		if !strings.Contains(string(encoded), want) {
			t.Errorf("no %s in %s", want, encoded)
		}
	}
}
