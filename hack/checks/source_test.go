// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "fairlead.dev/fairlead"
	// root is where the tests find the repository: go test runs them in their own directory.
	root = "../.."
)

// sourceFile is a Go file of the main module.
type sourceFile struct {
	// path is relative to the root, with slashes.
	path   string
	syntax *ast.File
	tokens *token.FileSet
}

// dir is the package's directory, relative to the root.
func (f sourceFile) dir() string { return path.Dir(f.path) }

func (f sourceFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// imports returns the import paths; those of the main module are relative to it.
func (f sourceFile) imports() []string {
	paths := make([]string, 0, len(f.syntax.Imports))
	for _, spec := range f.syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // The parser has checked it.
		}
		paths = append(paths, strings.TrimPrefix(imported, module+"/"))
	}
	return paths
}

// sources parses the main module's files below the directories. They are read in this process,
// not by the go command, so that go test knows them as inputs and never reuses a result of
// other files.
func sources(t *testing.T, directories ...string) []sourceFile {
	t.Helper()
	var files []sourceFile
	tokens := token.NewFileSet()
	for _, directory := range directories {
		err := filepath.WalkDir(filepath.Join(root, directory), func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules" || isOtherModule(t, file)) {
				return filepath.SkipDir
			}
			if entry.IsDir() || !strings.HasSuffix(file, ".go") {
				return nil
			}
			syntax, err := parser.ParseFile(tokens, file, nil, parser.SkipObjectResolution|parser.ParseComments)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(root, file)
			files = append(files, sourceFile{path: filepath.ToSlash(relative), syntax: syntax, tokens: tokens})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatalf("no Go file found in %q", directories)
	}
	return files
}

func isOtherModule(t *testing.T, directory string) bool {
	t.Helper()
	matches, err := filepath.Glob(filepath.Join(directory, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	return len(matches) > 0
}

// within reports whether a package is one of the patterns, where "x/..." means x and all below.
func within(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		prefix, all := strings.CutSuffix(pattern, "/...")
		return pkg == prefix || all && strings.HasPrefix(pkg, prefix+"/")
	})
}

// read returns a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
