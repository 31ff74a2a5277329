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

// The steps of a path that are not names of fields.
const (
	anItem   = "[]" // of an array
	anEntry  = "{}" // of a map
	maxDepth = 14   // Deeper nodes only repeat, such as a selector in a peer in a rule of a default.
)

// node is a place in the schema.
type node struct {
	// root is the schema at the first step of the path, and schema the one at its end.
	root, schema *schema.Structural
	path         []string
}

func (n node) String() string { return strings.Join(n.path, ".") }

// depth returns how many lists contain the node.
func (n node) depth() int {
	depth := 0
	for _, step := range n.path[:len(n.path)-1] {
		if step == anItem || step == anEntry {
			depth++
		}
	}
	return depth
}

// form describes the form of values here, regardless of the field's name and of limits.
func (n node) form() string {
	format := ""
	if v := n.schema.ValueValidation; v != nil {
		format = v.Format
	}
	return fmt.Sprint(n.schema.Type, n.schema.XIntOrString, n.isList(), isEnumeration(n.schema), format, patternOf(n.schema))
}

// isList reports whether users decide how many items or entries there are.
func (n node) isList() bool { return n.schema.Type == "array" || isMap(n.schema) }

func isMap(s *schema.Structural) bool {
	return s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil
}

// nodesOf returns the nodes below the schema, in a fixed order.
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
	return nodes[1:] // Without the root itself.
}

// isGiven reports whether a new object should have the field: if it is required, or if it is an image, without which
// a container is of no use, although Kubernetes' schema does not require it.
func isGiven(s *schema.Structural, field string) bool {
	return field == "image" || s.ValueValidation != nil && slices.Contains(s.ValueValidation.Required, field)
}
