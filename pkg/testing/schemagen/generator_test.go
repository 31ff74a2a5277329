// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
	"fairlead.dev/fairlead/pkg/testing/schemagen"
)

// The API server would store every object, with the defaults that it already has.
func TestObjectsAreStorable(t *testing.T) {
	applications := resource(t, v1.ApplicationKind)
	objects := generator(t, v1.ApplicationKind).Objects(t.Context())
	fixedseed.Check(t, func(rt *rapid.T) {
		object := objects.Draw(rt, "Application")
		if errs := applications.Check(t.Context(), runtime.DeepCopyJSON(object.Fields)); len(errs) > 0 {
			rt.Fatalf("the API server would refuse it: %v", errs)
		}
	})
	if seeds := seeds(t, v1.ApplicationKind); len(seeds) < 20 {
		t.Errorf("only %d seeds", len(seeds))
	}
}

// Most objects differ from their seed, and some are at a limit. About one of fifty has as many routes as there may be, so
// a sample of 300 has one whatever the schema makes of the seed.
func TestObjectsReachTheLimits(t *testing.T) {
	objects := generator(t, v1.ApplicationKind).Objects(t.Context())
	const drawn = 300
	edited, full := 0, 0
	for i := range drawn {
		object := objects.Example(i)
		if object.Edits() > 0 {
			edited++
		}
		if routes, _, err := unstructured.NestedSlice(object.Fields, "spec", "routes"); err == nil && len(routes) == 16 {
			full++
		}
	}
	if edited < drawn/2 || full == 0 {
		t.Errorf("of %d objects only %d are edited, and %d have as many routes as there may be", drawn, edited, full)
	}
}

func TestSeedsMustBeStorable(t *testing.T) {
	for _, seeds := range [][]map[string]any{nil, {{"kind": v1.ApplicationKind, "metadata": map[string]any{"name": "web"}}}} {
		if _, err := schemagen.New(t.Context(), resource(t, v1.ApplicationKind), seeds...); err == nil {
			t.Errorf("seeds %v are taken", seeds)
		}
	}
}
