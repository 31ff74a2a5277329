// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// npmLicenses are those that packages from npm may have. Some of them never leave the machine that uses them.
var npmLicenses = []string{
	"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "OFL-1.1", "Unlicense", "Zlib",
}

// npmUndeclared are packages whose license is in a file alone.
var npmUndeclared = map[string]string{
	"fast-shallow-equal": "Unlicense", "khroma": "MIT", "react-universal-interface": "Unlicense",
}

var npmExact = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

// TestNpmPackages: every package from npm is pinned by a hash, comes from whatever registry npm is set up with, and has a
// license that lets us use it.
func TestNpmPackages(t *testing.T) {
	files := glob(t, "hack/*/package-lock.json")
	if len(files) == 0 {
		t.Fatal("no package-lock.json was found")
	}
	for _, file := range files {
		var lock struct {
			Packages map[string]struct {
				Version, Integrity, Resolved, License string
				Link                                  bool
				Dependencies                          map[string]string
			}
		}
		if err := json.Unmarshal([]byte(read(t, file)), &lock); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name, version := range lock.Packages[""].Dependencies {
			if !npmExact.MatchString(version) && !strings.HasPrefix(version, "file:") {
				t.Errorf("%s: %s is wanted as %s, which is no exact version", file, name, version)
			}
		}
		for place, found := range lock.Packages {
			at := strings.LastIndex(place, "node_modules/")
			if at < 0 || found.Link {
				continue // One of ours.
			}
			name := place[at+len("node_modules/"):]
			if found.Integrity == "" || found.Resolved != "" {
				t.Errorf("%s: %s has the hash %q and the address %q", file, name, found.Integrity, found.Resolved)
			}
			license := found.License
			if license == "" {
				license = npmUndeclared[name]
			}
			if !licensed(license) {
				t.Errorf("%s: %s has the license %q", file, name, license)
			}
		}
	}
}

// licensed understands expressions such as "(MPL-2.0 OR Apache-2.0)". Every license in it must be allowed.
func licensed(expression string) bool {
	names := regexp.MustCompile(`[()]|\b(?:AND|OR)\b`).ReplaceAllString(expression, " ")
	return names != "" && !slices.ContainsFunc(strings.Fields(names), func(name string) bool { return !slices.Contains(npmLicenses, name) })
}
