// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"go/ast"
	"testing"
)

// Properties are checked from a fixed seed (pkg/testing/fixedseed), so that a red run points at a
// change and not at an unlucky draw.
func TestPropertiesHaveAFixedSeed(t *testing.T) {
	for _, file := range sources(t, "pkg", "cmd", "hack") {
		if file.dir() == "pkg/testing/fixedseed" {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "rapid" && (selector.Sel.Name == "Check" || selector.Sel.Name == "MakeCheck") {
				t.Errorf("%s: rapid.%s draws from a random seed; use fixedseed.Check", file.tokens.Position(node.Pos()), selector.Sel.Name)
			}
			return true
		})
	}
}
