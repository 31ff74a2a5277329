// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"go/ast"
	"regexp"
	"slices"
	"testing"
)

// firstIdentifier matches a doc comment that begins with an identifier: a word in lower case, or the name of a test.
// Such a comment is about that identifier. An English sentence begins with a capital letter.
var firstIdentifier = regexp.MustCompile(`^([a-z]\w*|(?:Test|Fuzz|Benchmark)[A-Z]\w*)\b[^-]`)

// TestDocCommentsNameTheirDeclaration finds doc comments that name another identifier, mostly because a rename or a new
// function in between has left them behind.
func TestDocCommentsNameTheirDeclaration(t *testing.T) {
	for _, file := range sources(t, "pkg", "cmd", "hack") {
		if ast.IsGenerated(file.syntax) {
			continue
		}
		check := func(doc *ast.CommentGroup, names ...*ast.Ident) {
			first := firstIdentifier.FindStringSubmatch(doc.Text())
			if first == nil || len(names) == 0 || slices.ContainsFunc(names, func(name *ast.Ident) bool { return name.Name == first[1] }) {
				return
			}
			t.Errorf("%s: the doc comment of %s begins with %q", file.tokens.Position(doc.Pos()), names[0].Name, first[1])
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			switch declaration := node.(type) {
			case *ast.FuncDecl:
				check(declaration.Doc, declaration.Name)
			case *ast.GenDecl:
				if !declaration.Lparen.IsValid() {
					check(declaration.Doc, declared(declaration.Specs)...)
				}
			case *ast.TypeSpec:
				check(declaration.Doc, declaration.Name)
			case *ast.ValueSpec:
				check(declaration.Doc, declaration.Names...)
			case *ast.Field:
				check(declaration.Doc, declaration.Names...)
			}
			return true
		})
	}
}

// declared returns the names that the specs declare.
func declared(specs []ast.Spec) []*ast.Ident {
	var names []*ast.Ident
	for _, spec := range specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name)
		case *ast.ValueSpec:
			names = append(names, spec.Names...)
		}
	}
	return names
}
