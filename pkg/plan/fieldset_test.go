// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

const shapely = `{image: "web:1", ports: [{name: http, containerPort: 80}], env: [{name: A, value: a}, {name: B, value: b}], replicas: 2}`

func TestFieldSet(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		same       bool
	}{
		{"nothing changed", shapely, true},
		{"other values", `{image: "web:2", ports: [{name: http, containerPort: 80}], env: [{name: A, value: x}, {name: B, value: y}], replicas: 3}`, true},
		{"an item is gone", `{image: "web:1", ports: [{name: http, containerPort: 80}], env: [{name: A, value: a}], replicas: 2}`, false},
		{"an item is new", `{image: "web:1", ports: [{name: http, containerPort: 80}], env: [{name: A, value: a}, {name: B, value: b}, {name: C, value: c}], replicas: 2}`, false},
		{"an item has another key", `{image: "web:1", ports: [{name: http, containerPort: 80}], env: [{name: A, value: a}, {name: X, value: b}], replicas: 2}`, false},
		{"a key that is a number", `{image: "web:1", ports: [{name: http, containerPort: 81}], env: [{name: A, value: a}, {name: B, value: b}], replicas: 2}`, false},
		{"a field is new", `{image: "web:1", command: [run], ports: [{name: http, containerPort: 80}], env: [{name: A, value: a}, {name: B, value: b}], replicas: 2}`, false},
		{"a field is gone", `{image: "web:1", ports: [{name: http, containerPort: 80}], env: [{name: A}, {name: B, value: b}], replicas: 2}`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			fieldSet := func(spec string) string {
				for _, desired := range rendered(t, application(t, spec)) {
					if desired.Kind == child.Deployment {
						return differ.FieldSetHash(desired)
					}
				}
				t.Fatal("no Deployment is rendered")
				return ""
			}
			if got := fieldSet(shapely) == fieldSet(test.spec); got != test.same {
				t.Errorf("the same field set: %t, want %t", got, test.same)
			}
		})
	}
}

// Two renderings have the same field set if, and only if, an API server would say that they own the same fields.
func TestFieldSetIsWhatOneOwns(t *testing.T) {
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	fixedseed.Check(t, func(t *rapid.T) {
		before := rendertest.Applications().Draw(t, "before")
		after := rendertest.Applications().Draw(t, "after")
		if rapid.Bool().Draw(t, "only other values") {
			after = before.DeepCopy()
			after.Spec.Image = "registry.example.com/other:9"
			for i := range after.Spec.Env {
				if after.Spec.Env[i].Value != "" {
					after.Spec.Env[i].Value = "another"
				}
			}
		}
		after.Namespace, after.Name, after.UID = before.Namespace, before.Name, before.UID
		others := map[child.Ref]child.Desired{}
		for _, desired := range rendered(t, after) {
			others[desired.Ref] = desired
		}
		for _, desired := range rendered(t, before) {
			other, found := others[desired.Ref]
			if !found || desired.Kind.Optional() {
				continue
			}
			one, err := converter.ObjectToTyped(rendertest.Object(t, desired))
			if err != nil {
				t.Fatal(err)
			}
			two, err := converter.ObjectToTyped(rendertest.Object(t, other))
			if err != nil {
				t.Fatal(err)
			}
			mine, err := one.ToFieldSet()
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := two.ToFieldSet()
			if err != nil {
				t.Fatal(err)
			}
			if same := differ.FieldSetHash(desired) == differ.FieldSetHash(other); same != mine.Equals(theirs) {
				t.Fatalf("%s: the same field set: %t, the same fields: %t\n%s\n%s", desired.Ref, same, mine.Equals(theirs), mine, theirs)
			}
		}
	})
}
