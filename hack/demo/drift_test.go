// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

// TestDamagesMeetTheShop: what the demo damages is what the examples have.
func TestDamagesMeetTheShop(t *testing.T) {
	shop := map[child.Ref]*unstructured.Unstructured{}
	for _, example := range decodeExamples(t) {
		application, ok := example.object.(*v1.Application)
		if !ok {
			continue
		}
		children, err := render.Children(application, render.Facts{})
		if err != nil {
			t.Fatal(err)
		}
		for _, desired := range children {
			shop[desired.Ref] = rendertest.Object(t, desired)
		}
	}
	for _, d := range damages() {
		object := shop[child.Ref{Kind: d.kind, Name: d.name}]
		if object == nil {
			t.Errorf("%s: no example has a %s of the name %s", d.story, d.kind, d.name)
			continue
		}
		if _, found, err := unstructured.NestedFieldNoCopy(object.Object, d.field...); !found || err != nil {
			t.Errorf("%s: Fairlead does not set %v of the %s, so it repairs nothing there", d.story, d.field, d.kind)
		}
	}
}

func TestIntact(t *testing.T) {
	service := func(selector, other string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"resourceVersion": other},
			"spec":     map[string]any{"selector": map[string]any{"app": selector}},
		}}
	}
	d := damage{field: []string{"spec", "selector"}}
	original := service("web", "1")
	tests := []struct {
		name  string
		event watch.Event
		want  bool
	}{
		{"another field", watch.Event{Type: watch.Modified, Object: service("web", "2")}, true},
		{"the field", watch.Event{Type: watch.Modified, Object: service("nothing", "2")}, false},
		{"made again", watch.Event{Type: watch.Added, Object: service("web", "3")}, true},
		{"deleted", watch.Event{Type: watch.Deleted, Object: service("web", "2")}, false},
		{"something else", watch.Event{Type: watch.Error, Object: &v1.Application{}}, false},
	}
	for _, test := range tests {
		if got := d.intact(test.event, original); got != test.want {
			t.Errorf("%s: intact is %t, want %t", test.name, got, test.want)
		}
	}
}
