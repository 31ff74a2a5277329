// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const root = "../.."

// examples returns the objects of the kind in the examples and golden files, in their JSON form.
func examples(t *testing.T, kind string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for _, pattern := range []string{"artifacts/examples/*.yaml", "artifacts/examples/*/*.yaml", "pkg/render/testdata/golden/*.in.yaml", "hack/fields/testdata/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.Contains(file, "broken") {
				continue
			}
			content, err := os.ReadFile(file) //nolint:gosec // a file of the repository
			if err != nil {
				t.Fatal(err)
			}
			for document := range bytes.SplitSeq(content, []byte("\n---\n")) {
				var object map[string]any
				if err := yaml.Unmarshal(document, &object); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				if object["kind"] == kind {
					found = append(found, object)
				}
			}
		}
	}
	return found
}

// application reads an object; nil if Go cannot.
func application(object map[string]any) *v1.Application {
	return read[v1.Application](object)
}

func read[T any](object map[string]any) *T {
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	into := new(T)
	if json.Unmarshal(encoded, into) != nil {
		return nil
	}
	return into
}

// changed is a copy of the object with the field replaced by what f returns; nil if it has none.
func changed(object map[string]any, path string, f func(value any) any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	if !at(object, path, f) {
		return nil
	}
	return object
}
