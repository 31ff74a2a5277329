// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

// application returns an Application named web in the namespace shop, with a spec in YAML. It adds an image.
func application(t *testing.T, spec string) *v1.Application {
	t.Helper()
	app := &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "11111111-2222-3333-4444-555555555555"},
	}
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatalf("spec: %v\n%s", err, spec)
	}
	if app.Spec.Image == "" {
		app.Spec.Image = "ghcr.io/acme/web:1.2"
	}
	return app
}

// rendered renders the Application without facts.
func rendered(t *testing.T, app *v1.Application) []child.Desired {
	t.Helper()
	return renderedWith(t, app, render.Facts{})
}

func renderedWith(t *testing.T, app *v1.Application, facts render.Facts) []child.Desired {
	t.Helper()
	children, err := render.Children(app, facts)
	if err != nil {
		t.Fatalf("Children: %v", err)
	}
	return children
}

func refs(children []child.Desired) []string {
	refs := []string{}
	for _, desired := range children {
		refs = append(refs, desired.Ref.String())
	}
	return refs
}

// ofKind returns the children of a kind.
func ofKind(t fataler, children []child.Desired, kind child.Kind) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, desired := range children {
		if desired.Kind == kind {
			objects = append(objects, rendertest.Object(t, desired))
		}
	}
	return objects
}

// fragment returns the part of the only child of a kind at the path, as YAML. It returns "" if there is no such part,
// or no such child.
func fragment(t *testing.T, children []child.Desired, kind child.Kind, path string) string {
	t.Helper()
	objects := ofKind(t, children, kind)
	if len(objects) == 0 {
		return ""
	}
	if len(objects) > 1 {
		t.Fatalf("%d children of kind %s, want at most one", len(objects), kind)
	}
	return part(t, objects[0], path)
}

var step = regexp.MustCompile(`^([^\[]+)(?:\[(\d+)\])?$`)

// part returns the part of an object at a path like spec.ports[0], as YAML.
func part(t *testing.T, object *unstructured.Unstructured, path string) string {
	t.Helper()
	var value any = object.Object
	for word := range strings.SplitSeq(path, ".") {
		match := step.FindStringSubmatch(word)
		fields, _ := value.(map[string]any)
		value = fields[match[1]]
		if match[2] != "" {
			index, err := strconv.Atoi(match[2])
			if err != nil {
				t.Fatalf("path %s: %v", path, err)
			}
			items, _ := value.([]any)
			if index >= len(items) {
				return ""
			}
			value = items[index]
		}
	}
	if value == nil {
		return ""
	}
	encoded, err := yaml.Marshal(value)
	if err != nil {
		t.Fatalf("encode %s: %v", path, err)
	}
	return string(encoded)
}

// wantYAML compares two YAML texts by their values.
func wantYAML(t *testing.T, what, got, want string) {
	t.Helper()
	var gotValue, wantValue any
	if err := yaml.Unmarshal([]byte(got), &gotValue); err != nil {
		t.Fatalf("%s: got no YAML: %v", what, err)
	}
	if err := yaml.Unmarshal([]byte(want), &wantValue); err != nil {
		t.Fatalf("%s: want no YAML: %v", what, err)
	}
	if diff := cmp.Diff(wantValue, gotValue); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

const (
	podPath         = "spec.template.spec"
	applicationPath = podPath + ".containers[0]"
)

// fragmentCase is a spec and the part of a child that it must render; "" means no such part.
type fragmentCase struct {
	name string
	spec string
	want string
}

// checkFragments renders each spec and compares the part of the child of that kind.
func checkFragments(t *testing.T, kind child.Kind, path string, cases []fragmentCase) {
	t.Helper()
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			children := rendered(t, application(t, test.spec))
			wantYAML(t, kind.Kind+" "+path, fragment(t, children, kind, path), test.want)
		})
	}
}

func pointer[T any](value T) *T { return new(value) }

// flow returns block YAML in one line, for use inside other YAML.
func flow(t *testing.T, block string) string {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(block))
	if err != nil {
		t.Fatalf("YAML: %v\n%s", err, block)
	}
	return string(encoded)
}

// deployment decodes a rendered child into its own type.
func deployment(t *rapid.T, desired child.Desired) *appsv1.Deployment {
	return typed(t, desired, &appsv1.Deployment{})
}

// networkPolicy decodes a rendered child into its own type.
func networkPolicy(t *rapid.T, desired child.Desired) *networkingv1.NetworkPolicy {
	return typed(t, desired, &networkingv1.NetworkPolicy{})
}

func typed[T any](t *rapid.T, desired child.Desired, into T) T {
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendertest.Object(t, desired).Object, into); err != nil {
		t.Fatalf("%s: %v", desired.Ref, err)
	}
	return into
}
