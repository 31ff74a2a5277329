// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

// TestWritePrevious: an upgrade from a chart that is the same would show nothing.
func TestWritePrevious(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "fairlead")
	if err := WritePrevious(t.Context(), root, directory); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"Chart.yaml": "\nversion: 0.0.0-alpha\n",
		"files/crds/apps.fairlead.dev_applications.yaml": "\n    shortNames:\n    - " + PreviousShortName + "\n",
	} {
		content, err := os.ReadFile(filepath.Join(directory, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), want) {
			t.Errorf("%s has no %q", file, want)
		}
		current, err := os.ReadFile(filepath.Join(Chart(root), filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(current), want) {
			t.Errorf("%s of the chart itself was changed", file)
		}
	}
}

func TestReplaceFindsNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "Chart.yaml")
	if err := os.WriteFile(file, []byte("version: 1.0.0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := replace(file, "version: 0.0.0-dev\n", "version: 0.0.0-alpha\n"); err == nil {
		t.Error("a file without the text was accepted")
	}
}
