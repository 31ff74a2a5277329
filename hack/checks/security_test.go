// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"fairlead.dev/fairlead/hack/checks/documents"
)

// rowsOfThreats is how many SECURITY.md has.
const rowsOfThreats = 23

// TestEveryThreatHasItsTest holds SECURITY.md against the tests: each row names at least one that
// has its number, and each test that has a number is named.
func TestEveryThreatHasItsTest(t *testing.T) {
	existing := testFunctions(t)
	numbered := regexp.MustCompile(`^TestS(\d+)[A-Z]`)
	named := map[string]bool{}
	rows := map[int]string{}
	row := regexp.MustCompile(`(?m)^\| S(\d+) \|.*$`)
	for _, found := range row.FindAllStringSubmatch(read(t, "SECURITY.md"), -1) {
		number, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		rows[number] = found[0]
	}
	for number := 1; number <= rowsOfThreats; number++ {
		own := 0
		for _, found := range namedTest.FindAllStringSubmatch(rows[number], -1) {
			named[found[1]] = true
			if match := numbered.FindStringSubmatch(found[1]); len(match) > 1 && match[1] == strconv.Itoa(number) {
				own++
			}
		}
		if own == 0 {
			t.Errorf("SECURITY.md names no test TestS%d… in row S%d", number, number)
		}
	}
	for name := range existing {
		if numbered.MatchString(name) && !named[name] {
			t.Errorf("no row of SECURITY.md names %s", name)
		}
	}
}

// namedTest is a test as documents name it.
var namedTest = regexp.MustCompile("`((?:Test|Fuzz)[A-Z0-9][A-Za-z0-9]*)`")

// TestDocumentsNameExistingTests keeps the tables of threats, faults and defects true when a test gets another name.
func TestDocumentsNameExistingTests(t *testing.T) {
	all, err := documents.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	existing := testFunctions(t)
	names := 0
	for _, document := range all {
		for _, found := range namedTest.FindAllStringSubmatch(document.Text, -1) {
			names++
			if !existing[found[1]] {
				t.Errorf("%s names %s, which does not exist", document.Path, found[1])
			}
		}
	}
	if names == 0 {
		t.Error("no document names a test")
	}
}

// testFunctions are the names of all tests and fuzz targets, those of the other modules included, which
// sources leaves out.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, directory := range []string{"cmd", "hack", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, directory), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
				return err
			}
			content, err := os.ReadFile(file)
			for _, found := range function.FindAllSubmatch(content, -1) {
				names[string(found[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}
