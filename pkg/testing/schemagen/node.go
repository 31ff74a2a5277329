// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package schemagen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Steps of a path that are no names of fields.
const (
	anItem   = "[]" // of an array
	anEntry  = "{}" // of a map
	maxDepth = 14   // Deeper are only repetitions, such as a selector in a peer in a rule of a default.
)

// node is a place in the schema.
type node struct {
	// root is the schema at the first step of the path, schema that at its end.
	root, schema *schema.Structural
	path         []string
}

func (n node) String() string { return strings.Join(n.path, ".") }

// depth is how many lists are around it.
func (n node) depth() int {
	depth := 0
	for _, step := range n.path[:len(n.path)-1] {
		if step == anItem || step == anEntry {
			depth++
		}
	}
	return depth
}

// form describes what values look like here, whatever the field is called and however many there may be.
func (n node) form() string {
	format := ""
	if v := n.schema.ValueValidation; v != nil {
		format = v.Format
	}
	return fmt.Sprint(n.schema.Type, n.schema.XIntOrString, n.isList(), isEnumeration(n.schema), format, patternOf(n.schema))
}

// isList reports whether a user decides how many there are.
func (n node) isList() bool { return n.schema.Type == "array" || isMap(n.schema) }

func isMap(s *schema.Structural) bool {
	return s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil
}

// nodesOf lists the schema and everything below it, in a fixed order.
func nodesOf(root *schema.Structural, path []string) []node {
	var nodes []node
	var visit func(s *schema.Structural, path []string)
	visit = func(s *schema.Structural, path []string) {
		if len(path) > maxDepth {
			return
		}
		nodes = append(nodes, node{root: root, schema: s, path: slices.Clone(path)})
		switch {
		case s.Items != nil:
			visit(s.Items, append(path, anItem))
		case isMap(s):
			visit(s.AdditionalProperties.Structural, append(path, anEntry))
		}
		for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
			below := s.Properties[field]
			visit(&below, append(path, field))
		}
	}
	visit(root, path)
	return nodes[1:] // The root itself stays.
}

// isGiven reports whether a new object should have the field: whatever must be there, and the image,
// without which no container is of use, although Kubernetes' schema can do without.
func isGiven(s *schema.Structural, field string) bool {
	return field == "image" || s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, field)
}
