// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package screen

import (
	"strings"

	"fairlead.dev/fairlead/pkg/text"
	"fairlead.dev/fairlead/pkg/tree"
)

// Tree draws a tree of objects, one line each: health, name, a few words, and why an object is not healthy. A message
// that does not fit is truncated, unless wide.
func (s *Screen) Tree(root *tree.Node, wide bool) { s.TreeOf(root.Ref(), root, wide) }

// TreeOf is Tree with another name of the root.
func (s *Screen) TreeOf(name string, root *tree.Node, wide bool) { s.branch(name, root, "", "", wide) }

func (s *Screen) branch(name string, node *tree.Node, lead, below string, wide bool) {
	further := below + "  "
	if len(node.Children) > 0 {
		further = below + "│ "
	}
	line := name + "  " + s.Health(node.Health, healthWords(node))
	if node.Info != "" {
		line += "  " + s.Paint(Dim, node.Info)
	}
	s.hanging(s.Paint(Dim, lead), s.Paint(Dim, pad(further, Width(lead))), line)
	if message := node.Message; message != "" {
		if limit := s.width - Width(further); !wide && s.width > 0 && Width(message) > limit {
			message = text.Truncate(message, max(limit, 20))
		}
		s.hanging(s.Paint(Dim, further), s.Paint(Dim, further), message)
	}
	for i, child := range node.Children {
		if i == len(node.Children)-1 {
			s.branch(child.Ref(), child, below+"└─ ", below+"   ", wide)
		} else {
			s.branch(child.Ref(), child, below+"├─ ", below+"│  ", wide)
		}
	}
}

// pad makes a lead at least as wide as another one.
func pad(lead string, width int) string {
	return lead + strings.Repeat(" ", max(0, width-Width(lead)))
}

func healthWords(node *tree.Node) string {
	return strings.TrimSpace(string(node.Health) + " " + node.Reason)
}
