// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/hack/checks/documents"
)

// TestImageAutomation does what docs/guides/image-automation.md says of kustomize, with the blocks of that page.
func TestImageAutomation(t *testing.T) {
	all, err := documents.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	names, directory := []string{"web.yaml", "kustomization.yaml", "images.yaml"}, t.TempDir()
	for _, document := range all {
		if document.Path != "docs/guides/image-automation.md" {
			continue
		}
		for _, block := range document.Blocks {
			if block.Language != "yaml" {
				continue
			}
			if len(names) == 0 {
				t.Fatalf("line %d has a block more than the three files", block.Line)
			}
			if err := os.WriteFile(filepath.Join(directory, names[0]), []byte(block.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			names = names[1:]
		}
	}
	if len(names) > 0 {
		t.Fatalf("the page has no blocks for %q", names)
	}
	objects := parse(t, tool(t, "kustomize", "kustomize", "build", directory))
	spec, _ := objects[0].Object["spec"].(map[string]any)
	if got, want := spec["image"], "ghcr.io/acme/web:1.3.0"; got != want {
		t.Errorf("the image is %v, want %s", got, want)
	}
}
