// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the lines at which symbols are into docs/informers")

// codeLink is how the book names a place in the code: `symbol`, [file.go:42](path/file.go#L42). A symbol is a name at the
// top level of the file, a method, or Type.Member.
var codeLink = regexp.MustCompile("`([A-Za-z0-9_.]+)`, \\[[a-z0-9_]+\\.go:\\d+\\]\\(([^)#]+\\.go)#L\\d+\\)")

// TestBookNamesLines keeps the links to lines right. A moved symbol is a change of the book too:
//
//	go test ./hack/checks -run TestBookNamesLines -update
func TestBookNamesLines(t *testing.T) {
	for _, chapter := range chapters(t) {
		content := read(t, chapter)
		if links, understood := strings.Count(content, ".go#L"), len(codeLink.FindAllString(content, -1)); links != understood {
			t.Errorf("%s: %d links to a line, of which %d have the form `symbol`, [file.go:1](path/file.go#L1)", chapter, links, understood)
		}
		right := codeLink.ReplaceAllStringFunc(content, func(link string) string {
			parts := codeLink.FindStringSubmatch(link)
			file := path.Join(path.Dir(chapter), parts[2])
			line, err := lineOf(t, file, parts[1])
			if err != nil {
				t.Errorf("%s: %v", chapter, err)
				return link
			}
			return fmt.Sprintf("%#q, [%s:%d](%s#L%d)", parts[1], path.Base(file), line, parts[2], line)
		})
		switch {
		case right == content:
		case *update:
			if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(chapter)), []byte(right), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s names lines that have moved: go test ./hack/checks -run TestBookNamesLines -update", chapter)
		}
	}
}

// TestChaptersAreComplete asks of every chapter what the book promises.
func TestChaptersAreComplete(t *testing.T) {
	for _, chapter := range chapters(t) {
		content := read(t, chapter)
		for _, part := range []string{
			"\n```mermaid\n", "\n## The lab\n", "\n```text\n", "\n## What can go wrong\n", "\n## Where Fairlead does it\n", ".go#L", "\n## Questions\n",
		} {
			if !strings.Contains(content, part) {
				t.Errorf("%s has no %q", chapter, part)
			}
		}
		if !strings.Contains(content, "(../../pipeline.md#") || !strings.Contains(content, "(../../glossary.md)") {
			t.Errorf("%s does not link to a stage of the live view and to the glossary", chapter)
		}
		if questions := strings.Count(content, "<details>"); questions != 3 {
			t.Errorf("%s has %d questions instead of three", chapter, questions)
		}
	}
}

// chapters are the paths of the chapters of the book.
func chapters(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "informers", "[0-9]*", "README.md"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no chapters found: %v", err)
	}
	for i, file := range files {
		relative, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = filepath.ToSlash(relative)
	}
	return files
}

// lineOf finds the line of a symbol.
func lineOf(t *testing.T, file, symbol string) (int, error) {
	t.Helper()
	for _, source := range sources(t, path.Dir(file)) {
		if source.path != file {
			continue
		}
		for _, declaration := range source.syntax.Decls {
			if name := named(declaration, symbol); name != nil {
				return source.tokens.Position(name.Pos()).Line, nil
			}
		}
		return 0, fmt.Errorf("%s declares no %s", file, symbol)
	}
	return 0, fmt.Errorf("there is no %s", file)
}

// named returns the identifier by which a declaration introduces the symbol, or nil.
func named(declaration ast.Decl, symbol string) *ast.Ident {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Name.Name == symbol || receiver(d)+"."+d.Name.Name == symbol {
			return d.Name
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if name := specified(spec, symbol); name != nil {
				return name
			}
		}
	}
	return nil
}

func specified(spec ast.Spec, symbol string) *ast.Ident {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.Name == symbol {
				return name
			}
		}
	case *ast.TypeSpec:
		if s.Name.Name == symbol {
			return s.Name
		}
		return member(s, symbol)
	}
	return nil
}

// member looks for Type.Field.
func member(spec *ast.TypeSpec, symbol string) *ast.Ident {
	of, field, qualified := strings.Cut(symbol, ".")
	structure, isStruct := spec.Type.(*ast.StructType)
	if !qualified || !isStruct || of != spec.Name.Name {
		return nil
	}
	for _, f := range structure.Fields.List {
		for _, name := range f.Names {
			if name.Name == field {
				return name
			}
		}
	}
	return nil
}

// receiver is the name of a method's type, or "".
func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return ""
	}
	of := function.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
