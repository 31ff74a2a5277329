// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen_test

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"fairlead.dev/fairlead/pkg/crdschema"
	"fairlead.dev/fairlead/pkg/testing/schemagen"
)

const root = "../../.."

// resources are the resources of the installed CustomResourceDefinitions.
var resources = sync.OnceValues(func() (map[string]*crdschema.Resource, error) {
	return crdschema.Load(filepath.Join(root, "artifacts", "crds"))
})

func resource(t *testing.T, kind string) *crdschema.Resource {
	t.Helper()
	all, err := resources()
	if err != nil {
		t.Fatal(err)
	}
	return all[kind]
}

// generator returns a generator of objects of the kind, starting with the smallest example.
func generator(t *testing.T, kind string) *schemagen.Generator {
	t.Helper()
	g, err := schemagen.New(t.Context(), resource(t, kind), seeds(t, kind)...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// seeds returns the examples and the golden files of the kind that the API server accepts.
func seeds(t *testing.T, kind string) []map[string]any {
	t.Helper()
	var found []map[string]any
	for _, directory := range []string{"artifacts/examples", "pkg/render/testdata/golden", "pkg/class/testdata"} {
		err := filepath.WalkDir(filepath.Join(root, directory), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".out.yaml") || strings.Contains(file, "broken") {
				return err
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
				document, err := reader.Read()
				if err != nil {
					return nil //nolint:nilerr // the end
				}
				object, err := crdschema.Decode(document)
				if err != nil {
					return err
				}
				// A golden file may have cpu: 0.5, which Go decodes as a quantity, and the API server refuses, since it is no string.
				if object["kind"] == kind && len(resource(t, kind).Check(t.Context(), object)) == 0 {
					delete(object, "status")
					found = append(found, object)
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}
