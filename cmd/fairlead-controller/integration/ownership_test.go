// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestFieldsOfTheCreation changes what a POST created: a value costs one write, and what goes away from the spec
// goes away from the child, although it belongs to the POST.
func TestFieldsOfTheCreation(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	e.run(e.ownAgent)
	e.create(`
apiVersion: apps.fairlead.dev/v1
kind: Application
metadata: {name: web}
spec:
  image: registry.example.com/web:1
  env: [{name: A, value: a}, {name: B, value: b}]
`)
	e.waitReady("web")
	for _, step := range []struct {
		what               string
		change             func(*v1.ApplicationSpec)
		image, names       string
		gets, patches      int
		shapeOfTheCreation bool
	}{
		{"another image", func(spec *v1.ApplicationSpec) { spec.Image = "registry.example.com/web:2" }, "registry.example.com/web:2", "A B", 0, 1, true},
		{"a variable less", func(spec *v1.ApplicationSpec) { spec.Env = spec.Env[:1] }, "registry.example.com/web:2", "A", 1, 2, false},
		{"no variable", func(spec *v1.ApplicationSpec) { spec.Env = nil }, "registry.example.com/web:2", "", 0, 1, false},
	} {
		e.requests(e.cluster.AuditCursor(t)) // It is at rest.
		cursor := e.cluster.AuditCursor(t)
		e.editSpec("web", step.change)
		e.waitReady("web")
		counts := tally(e.requests(cursor))
		if got := counts["get deployments"]; got != step.gets {
			t.Errorf("%s: %d reads of the Deployment, want %d", step.what, got, step.gets)
		}
		if got := counts["patch deployments"]; got != step.patches {
			t.Errorf("%s: %d writes of the Deployment, want %d", step.what, got, step.patches)
		}
		deployment := get[appsv1.Deployment](e, "web")
		container := deployment.Spec.Template.Spec.Containers[0]
		var names []string
		for _, variable := range container.Env {
			names = append(names, variable.Name)
		}
		if got := strings.Join(names, " "); container.Image != step.image || got != step.names {
			t.Errorf("%s: the Deployment runs %s with %q, want %s with %q", step.what, container.Image, got, step.image, step.names)
		}
		if _, is := deployment.Annotations[v1.AnnotationCreatedFieldSet]; is != step.shapeOfTheCreation {
			t.Errorf("%s: it has the shape of its creation: %t", step.what, is)
		}
	}
}
