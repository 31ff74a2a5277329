// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// own returns the files of static that were written here.
func own(t *testing.T, extensions ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(Files(), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(file, "lib/") {
			return err
		}
		for _, extension := range extensions {
			if path.Ext(file) == extension {
				content, err := fs.ReadFile(Files(), file)
				files[file] = string(content)
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("the page has no files %q", extensions)
	}
	return files
}

// TestLibrariesAreAsPublished compares what is embedded with the list, both ways. hack/vendor-page.sh writes the list
// from packages whose hashes the lock file has.
func TestLibrariesAreAsPublished(t *testing.T) {
	libraries, err := Libraries()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"lib/SHA256SUMS": true}
	for _, library := range libraries {
		listed[library.Path] = true
		content, err := fs.ReadFile(Files(), library.Path)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != library.SHA256 {
			t.Errorf("%s has the hash %s, not %s", library.Path, got, library.SHA256)
		}
	}
	entries, err := fs.ReadDir(Files(), "lib")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !listed["lib/"+entry.Name()] {
			t.Errorf("lib/%s is not in the list", entry.Name())
		}
	}
	for _, library := range []string{"preact", "htm", "uplot"} {
		if !listed["lib/"+library+".LICENSE.txt"] {
			t.Errorf("the license of %s is missing", library)
		}
	}
}

// TestFilesAreSmall keeps each of them about one subject.
func TestFilesAreSmall(t *testing.T) {
	for file, content := range own(t, ".js", ".css", ".html") {
		if lines := strings.Count(content, "\n"); lines > 300 {
			t.Errorf("%s has %d lines", file, lines)
		}
		if !strings.Contains(strings.Join(strings.SplitN(content, "\n", 4)[:3], "\n"), "SPDX-License-Identifier: Apache-2.0") {
			t.Errorf("%s does not name the license in its first lines", file)
		}
	}
}

var (
	absolute = regexp.MustCompile(`(?:https?:)?//[a-z0-9-]+\.[a-z]|(?:src|href|fetch|EventSource)\s*[=(]\s*["'` + "`" + `]/`)
	inline   = regexp.MustCompile(`(?i)<script(?: [^>]*)?>[^<]|<style|\sstyle="|\son[a-z]+="|javascript:`)
	imported = regexp.MustCompile(`(?m)^import [^;]*?"([^"]+)"|(?:src|href)="([^"#]+)"`)
)

// TestURLsAreRelative holds what the page needs behind a proxy that puts a path before it.
func TestURLsAreRelative(t *testing.T) {
	for file, content := range own(t, ".js", ".css", ".html") {
		if found := absolute.FindString(content); found != "" {
			t.Errorf("%s has the address %s", file, found)
		}
	}
}

// TestNothingIsInline holds what the content security policy forbids anyway, before a browser is asked.
func TestNothingIsInline(t *testing.T) {
	for file, content := range own(t, ".html") {
		if found := inline.FindString(content); found != "" {
			t.Errorf("%s has %q", file, found)
		}
	}
}

// TestImportsExist finds a file that was renamed.
func TestImportsExist(t *testing.T) {
	for file, content := range own(t, ".js", ".html") {
		for _, found := range imported.FindAllStringSubmatch(content, -1) {
			target := found[1] + found[2]
			if strings.HasPrefix(target, "v1/") {
				continue // The API, not a file.
			}
			if _, err := fs.Stat(Files(), path.Join(path.Dir(file), target)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

var sourceFile = regexp.MustCompile(`"((?:pkg|cmd|docs)/[^"]+\.(?:go|md))"`)

// TestStagesNameTheirCode looks for the files, and the chapters of the book, that the page sends its readers to.
func TestStagesNameTheirCode(t *testing.T) {
	content := own(t, ".js")["stages.js"]
	found := sourceFile.FindAllStringSubmatch(content, -1)
	if len(found) < 13 {
		t.Fatalf("stages.js names %d files; each of the 13 stages has one", len(found))
	}
	for _, match := range found {
		if _, err := os.Stat(filepath.Join("..", "..", "..", filepath.FromSlash(match[1]))); err != nil {
			t.Error(err)
		}
	}
}
