// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	moduleTool    = regexp.MustCompile(`(?m)^tool (\S+)$`)
	moduleRequire = regexp.MustCompile(`(?m)^(?:require |\t)(\S+) (v\S+)`)
)

// TestNeighboursHaveTheirVersions: docs/neighbours.md names the version of each program that hack/neighbours pins.
func TestNeighboursHaveTheirVersions(t *testing.T) {
	document, programs := read(t, "docs/neighbours.md"), 0
	for _, file := range glob(t, "hack/neighbours/*/go.mod") {
		content := read(t, file)
		for _, tool := range moduleTool.FindAllStringSubmatch(content, -1) {
			programs++
			version := ""
			for _, required := range moduleRequire.FindAllStringSubmatch(content, -1) {
				// A program of ours that runs the packages of a module is called as that module is.
				ours := strings.HasPrefix(tool[1], "fairlead.dev/") && path.Base(tool[1]) == path.Base(required[1])
				if ours || strings.HasPrefix(tool[1]+"/", required[1]+"/") {
					version = required[2]
				}
			}
			if version == "" || !strings.Contains(document, version) {
				t.Errorf("%s pins version %q of %s, which docs/neighbours.md does not name", file, version, tool[1])
			}
		}
	}
	if programs == 0 {
		t.Error("hack/neighbours pins no program")
	}
}

// TestNeighboursRunTests: go test is content with a name that no test has.
func TestNeighboursRunTests(t *testing.T) {
	var tests strings.Builder
	for _, file := range glob(t, "hack/neighbours/*_test.go") {
		tests.WriteString(read(t, file))
	}
	named := regexp.MustCompile(`=(Test\w+)`).FindAllStringSubmatch(read(t, "hack/neighbours.sh"), -1)
	if len(named) == 0 {
		t.Fatal("hack/neighbours.sh names no test")
	}
	for _, test := range named {
		if !strings.Contains(tests.String(), "func "+test[1]+"(") {
			t.Errorf("hack/neighbours.sh runs %s, which does not exist", test[1])
		}
	}
}

// glob returns the files that match, as paths of the repository.
func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if files[i], err = filepath.Rel(root, file); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
