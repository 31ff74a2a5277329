// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// What was rendered and stored needs nothing done, whatever others have added to it.
func TestSettledApplicationsAreLeftAlone(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		snapshot := settled(t, rendertest.Applications().Draw(t, "application"))
		if rapid.Bool().Draw(t, "decorated") {
			decorate(snapshot)
		}
		if rapid.Bool().Draw(t, "known") {
			known(snapshot)
		}
		if got := lines(compute(t, snapshot)); len(got) != 0 {
			t.Fatalf("steps for a settled Application: %q", got)
		}
	})
}

// A plan has each child once, changes nothing that it was made from, and is the same each time.
func TestPlansAreCompleteAndPure(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		snapshot := settled(t, rendertest.Applications().Draw(t, "before"))
		after := rendertest.Applications().Draw(t, "after")
		after.Namespace, after.Name, after.UID = snapshot.Application.Namespace, snapshot.Application.Name, snapshot.Application.UID
		snapshot.Application = after
		before := map[child.Ref]runtime.Object{}
		for r, object := range snapshot.Children {
			before[r] = object.DeepCopyObject()
		}
		steps := compute(t, snapshot)
		seen := map[child.Ref]bool{}
		for _, s := range steps {
			if seen[s.Ref] {
				t.Fatalf("%s has two steps", s.Ref)
			}
			seen[s.Ref] = true
			_, exists := snapshot.Children[s.Ref]
			switch s.Action {
			case plan.Create:
				if exists {
					t.Fatalf("%s is created and exists", s.Ref)
				}
			case plan.Keep, plan.Apply, plan.Delete:
				if !exists {
					t.Fatalf("%s of %s, which does not exist", s.Action, s.Ref)
				}
			case plan.WaitDependency:
				// Only config waits, for pods of another account.
				if s.Desired != nil && s.Ref.Kind != child.ConfigMap {
					t.Fatalf("%s waits: %s", s.Ref, s.Reason)
				}
			default:
				t.Fatalf("%s of %s", s.Action, s.Ref)
			}
			if s.Drift {
				t.Fatalf("a change of the spec is called drift: %s", lines(steps))
			}
		}
		for r, object := range snapshot.Children {
			if !seen[r] {
				t.Fatalf("%s has no step", r)
			}
			if !reflect.DeepEqual(object, before[r]) {
				t.Fatalf("the plan changed %s", r)
			}
		}
		if again := compute(t, snapshot); !reflect.DeepEqual(lines(steps), lines(again)) {
			t.Fatalf("two plans: %q and %q", lines(steps), lines(again))
		}
	})
}

// Any rendered field that others change makes exactly that child an Apply, as drift.
func TestAnyChangedFieldIsDrift(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		app := rendertest.Applications().Draw(t, "application")
		snapshot := settled(t, app)
		desired := rapid.SampledFrom(rendered(t, app)).Draw(t, "child")
		field := rapid.SampledFrom(fieldsOf(rendertest.Object(t, desired).Object, nil)).Draw(t, "field")
		changed, how := field.change(t, desired)
		if changed == nil {
			t.Skip("the field takes no other value")
		}
		original := snapshot.Children[desired.Ref]
		changed.SetUID(original.GetUID())
		changed.SetResourceVersion("101")
		snapshot.Children[desired.Ref] = changed

		for _, s := range compute(t, snapshot) {
			switch {
			case s.Ref != desired.Ref && s.Action != plan.Keep:
				t.Fatalf("%s %v: %s %s", how, field.path, s.Action, s.Ref)
			case s.Ref == desired.Ref && (s.Action != plan.Apply || !s.Drift || len(s.Fields) == 0 || s.Reason != "another client changed it"):
				t.Fatalf("%s %v: %s, drift %t, %s, %q", how, field.path, s.Action, s.Drift, s.Reason, s.Fields)
			}
		}
	})
}

// field is a rendered value that is no map or list with something in it.
type field struct {
	path  []any // names and indices
	value any
}

// fieldsOf are the fields of a rendered child that others could change without making it another
// child, somebody else's child, or one of an older spec.
func fieldsOf(value any, path []any) []field {
	var all []field
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := append(slices.Clone(path), name)
			switch fmt.Sprint(at...) {
			case "apiVersion", "kind", "metadataname", "metadatanamespace", "metadataownerReferences",
				"metadataannotations" + v1.AnnotationOwnerUID, "metadataannotations" + v1.AnnotationRenderedHash:
				continue
			}
			all = append(all, fieldsOf(v[name], at)...)
		}
		if len(v) > 0 {
			return all
		}
	case []any:
		for i, item := range v {
			all = append(all, fieldsOf(item, append(slices.Clone(path), i))...)
		}
		if len(v) > 0 {
			return all
		}
	}
	return []field{{path, value}}
}

// change returns the child as stored with another value in the field, or without it, and says
// which; nil if there is no such value.
func (f field) change(t *rapid.T, desired child.Desired) (child.Object, string) {
	var candidates []any
	switch v := f.value.(type) {
	case string:
		candidates = []any{v + "x", "7", "8"}
	case int64:
		candidates = []any{v + 1}
	case bool:
		candidates = []any{!v}
	}
	// Without its key an item could not be stored.
	if _, item := f.path[len(f.path)-1].(int); !item && !f.isKey() {
		candidates = append(candidates, nil)
	}
	if len(candidates) == 0 {
		return nil, ""
	}
	first := rapid.IntRange(0, len(candidates)-1).Draw(t, "value")
	before := stored(t, desired)
	for i := range candidates {
		candidate := candidates[(first+i)%len(candidates)]
		object := rendertest.Object(t, desired).Object
		f.set(object, candidate)
		changed, err := typed(desired.Kind, object)
		if err != nil {
			continue // No value of that type.
		}
		changed.SetUID(before.GetUID())
		changed.SetResourceVersion(before.GetResourceVersion())
		changed.SetGeneration(before.GetGeneration())
		if !reflect.DeepEqual(before, changed) {
			return changed, fmt.Sprintf("%v instead of %v at", candidate, f.value)
		}
	}
	return nil, ""
}

// isKey reports whether the field is a key of the list item that it is in.
func (f field) isKey() bool {
	if len(f.path) < 2 {
		return false
	}
	if _, inItem := f.path[len(f.path)-2].(int); !inItem {
		return false
	}
	return slices.Contains([]any{"name", "port", "containerPort", "protocol", "mountPath", "topologyKey", "whenUnsatisfiable"}, f.path[len(f.path)-1])
}

// set puts the value at the path; nil removes the field.
func (f field) set(object any, value any) {
	for _, step := range f.path[:len(f.path)-1] {
		switch s := step.(type) {
		case string:
			object = object.(map[string]any)[s]
		case int:
			object = object.([]any)[s]
		}
	}
	switch last := f.path[len(f.path)-1].(type) {
	case string:
		if value == nil {
			delete(object.(map[string]any), last)
			return
		}
		object.(map[string]any)[last] = value
	case int:
		object.([]any)[last] = value
	}
}
