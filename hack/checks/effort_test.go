// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEffort holds the numbers of lines in the table of chapter 16: without comments, blank lines and tests, and at most a tenth off.
func TestEffort(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "informers", "16-api-server", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		claim   string // with the number as the group
		files   string
		without []string
	}{
		{`\[([\d,]+) lines of YAML\]`, "docs/informers/16-api-server/visits.yaml", nil},
		{`\| ([\d,]+) lines of Go here`, "docs/informers/16-api-server/*.go", []string{"lab.go", "costs.go"}},
		{`; ([\d,]+) in \[pkg/apiserver\]`, "pkg/apiserver/*.go", nil},
	} {
		found := regexp.MustCompile(test.claim).FindSubmatch(page)
		if found == nil {
			t.Errorf("the page does not say %s", test.claim)
			continue
		}
		claimed, err := strconv.Atoi(strings.ReplaceAll(string(found[1]), ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := linesOf(t, test.files, test.without); got*10 < claimed*9 || got*10 > claimed*11 {
			t.Errorf("%s has %d lines, and the page says %d", test.files, got, claimed)
		}
	}
}

// linesOf counts the lines of files.
func linesOf(t *testing.T, pattern string, without []string) (lines int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || slices.Contains(without, filepath.Base(file)) {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines++
			}
		}
	}
	return lines
}
