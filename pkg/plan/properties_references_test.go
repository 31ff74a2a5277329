// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// Whichever child's name another's object bears, and whatever the spec was before, no write refers to it.
func TestNoWriteRefersToForeignObjects(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		snapshot := settled(t, rendertest.Applications().Draw(t, "before"))
		after := rendertest.Applications().Draw(t, "after")
		after.Namespace, after.Name, after.UID = snapshot.Application.Namespace, snapshot.Application.Name, snapshot.Application.UID
		snapshot.Application = after
		desired := rapid.SampledFrom(rendered(t, after)).Draw(t, "foreign")
		foreign := stored(t, desired)
		foreign.SetOwnerReferences(nil)
		foreign.SetAnnotations(nil)
		foreign.SetUID("foreign")
		snapshot.Children[desired.Ref] = foreign
		for _, r := range rapid.SliceOf(rapid.SampledFrom(rendered(t, after))).Draw(t, "not there yet") {
			if r.Ref != desired.Ref {
				delete(snapshot.Children, r.Ref)
			}
		}
		in := plan.Input{Snapshot: snapshot, Missing: rapid.SampledFrom([]string{"", missing}).Draw(t, "missing")}
		for _, s := range computeFrom(t, in) {
			switch s.Action {
			case plan.Create, plan.Apply, plan.Scale:
				if names(rendertest.Object(t, *s.Desired), desired.Ref) {
					t.Fatalf("%s of %s, which refers to the foreign %s", s.Action, s.Ref, desired.Ref)
				}
			case plan.Delete:
				if s.Ref == desired.Ref {
					t.Fatalf("the foreign %s is deleted", s.Ref)
				}
			}
		}
	})
}

// names reports whether a rendered child refers to the other by name, found without what the plan knows of it.
func names(object *unstructured.Unstructured, other child.Ref) bool {
	at := map[child.Kind][]string{
		child.ServiceAccount: {"serviceAccountName"},
		child.ConfigMap:      {"configMap", "configMapRef", "configMapKeyRef"},
		child.Deployment:     {"scaleTargetRef"},
		child.Service:        {"service", "backendRefs"},
	}
	spec, _ := object.Object["spec"].(map[string]any)
	for _, field := range at[other.Kind] {
		if namesIn(spec, field, other.Name, false) {
			return true
		}
	}
	return false
}

// namesIn looks for the name as the value of the field, or as the name in its value.
func namesIn(value any, field, name string, inside bool) bool {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			if key == field && item == name || inside && key == "name" && item == name || namesIn(item, field, name, inside || key == field) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if namesIn(item, field, name, inside) {
				return true
			}
		}
	}
	return false
}
