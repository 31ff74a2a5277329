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
)

// rowsOfThreats is how many SECURITY.md has. Of S18, fairness, there is no test with that name.
const rowsOfThreats = 23

// TestEveryThreatHasItsTest holds SECURITY.md against the tests: each row names at least one that
// has its number, each test that is named exists, and each test that has a number is named.
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
		for _, found := range regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(rows[number], -1) {
			named[found[1]] = true
			if !existing[found[1]] {
				t.Errorf("SECURITY.md names %s in row S%d, which does not exist", found[1], number)
			}
			if match := numbered.FindStringSubmatch(found[1]); len(match) > 1 && match[1] == strconv.Itoa(number) {
				own++
			}
		}
		if own == 0 && number != 18 {
			t.Errorf("SECURITY.md names no test TestS%d… in row S%d", number, number)
		}
	}
	for name := range existing {
		if numbered.MatchString(name) && !named[name] {
			t.Errorf("no row of SECURITY.md names %s", name)
		}
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
