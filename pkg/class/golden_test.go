// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package class

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

var update = flag.Bool("update", false, "write what is merged to the golden file instead of comparing with it")

const golden = "testdata/golden.yaml"

// TestGolden shows everything that a class does to an Application: what is applied instead of the
// spec, what status tells about it, and the children.
//
// After a change that is meant: go test ./pkg/class -run TestGolden -update
func TestGolden(t *testing.T) {
	application, class := decodeFile[v1.Application](t, "testdata/application.yaml"), decodeFile[v1.ApplicationClass](t, "testdata/class.yaml")
	application.UID = "11111111-2222-3333-4444-555555555555"
	if errs := validation.ValidateApplicationClass(&class); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	resolved := Resolve(&application, Rules{Classes: []*v1.ApplicationClass{&class}})
	if errs, reason := resolved.Validate(validation.Options{}); len(errs) > 0 {
		t.Fatalf("%s: %v", reason, errs.ToAggregate())
	}
	children, err := render.Children(resolved.Application, render.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	documents := []any{map[string]any{"spec": resolved.Application.Spec}, map[string]any{"status": map[string]any{"class": resolved.Applied}}}
	for _, child := range children {
		documents = append(documents, rendertest.Object(t, child).Object)
	}
	var got bytes.Buffer
	for _, document := range documents {
		encoded, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString("---\n")
		got.Write(encoded)
	}
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

func decodeFile[T any](t *testing.T, file string) T {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return decode[T](t, string(content))
}
