// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files and the table of values instead of comparing them")

// TestGolden shows in a review what a change of the chart changes for its users.
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("testdata/golden/*.values.yaml")
	if err != nil || len(inputs) != 6 {
		t.Fatalf("found %d sets of values, want 6: %v", len(inputs), err)
	}
	for _, input := range inputs {
		name := strings.TrimSuffix(input, ".values.yaml")
		t.Run(filepath.Base(name), func(t *testing.T) {
			var values map[string]any
			if err := yaml.UnmarshalStrict(readFile(t, input), &values); err != nil {
				t.Fatal(err)
			}
			var rendered bytes.Buffer
			for _, object := range render(t, values) {
				if object.GetKind() == "ConfigMap" {
					object.Object["data"] = "that of artifacts/components/monitoring/dashboard.json"
				}
				document, err := yaml.Marshal(object)
				if err != nil {
					t.Fatal(err)
				}
				rendered.WriteString("---\n")
				rendered.Write(document)
			}
			compareOrUpdate(t, name+".out.yaml", rendered.Bytes(), func(want, got string) string { return cmp.Diff(want, got) })
		})
	}
}
