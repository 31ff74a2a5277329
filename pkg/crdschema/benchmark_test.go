// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// BenchmarkCheck checks Applications as kube-apiserver does at each write: what the validation of a CRD costs it.
func BenchmarkCheck(b *testing.B) {
	resources, err := Load("../../artifacts/crds")
	if err != nil {
		b.Fatal(err)
	}
	application := resources["Application"]
	for _, example := range []string{"minimal", "full"} {
		content, err := os.ReadFile("../../artifacts/examples/" + example + ".yaml")
		if err != nil {
			b.Fatal(err)
		}
		encoded, err := yaml.YAMLToJSON(content)
		if err != nil {
			b.Fatal(err)
		}
		object := map[string]any{}
		if err := json.Unmarshal(encoded, &object); err != nil {
			b.Fatal(err)
		}
		b.Run(example+"/schema", func(b *testing.B) {
			for b.Loop() {
				if errs := application.CheckSchema(object); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
		b.Run(example+"/CEL", func(b *testing.B) {
			for b.Loop() {
				if errs := application.CheckRules(b.Context(), object); len(errs) > 0 {
					b.Fatal(errs)
				}
			}
		})
	}
}
