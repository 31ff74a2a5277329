// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package difference

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/preview"
	"fairlead.dev/fairlead/pkg/text"
)

// JoinBlocked gives several blocked children one reason together, because theirs are much the same. explain is the command that says what to
// do about each.
func JoinBlocked(d preview.Difference, explain string) preview.Difference {
	var names []string
	first := -1
	children := slices.Clone(d.Children)
	for i := range children {
		c := &children[i]
		if c.Action != preview.Blocked {
			continue
		}
		names = append(names, c.Kind+" "+c.Name)
		if c.Reason = ""; first < 0 {
			first = i
		}
	}
	if len(names) > 1 {
		children[first].Reason = fmt.Sprintf("Fairlead leaves %d objects alone, because they are not the Application's: %s ('%s' says what to do)",
			len(names), strings.Join(names, ", "), explain)
		d.Children = children
	}
	return d
}

// Withheld reports whether Fairlead does not write the Deployment, because it leaves a child alone to which the pods refer.
func Withheld(d preview.Difference) bool {
	return slices.ContainsFunc(d.Children, func(c preview.Child) bool {
		return c.Action == preview.Blocked && (c.Kind == child.ServiceAccount.Kind || c.Kind == child.ConfigMap.Kind)
	})
}

// withBlocked adds why Fairlead leaves children alone.
func withBlocked(sentence string, d preview.Difference) string {
	sentences := []string{sentence}
	for _, child := range d.Children {
		if child.Action == preview.Blocked && child.Reason != "" {
			sentences = append(sentences, text.Capitalize(text.Sentence(child.Reason)))
		}
	}
	return strings.Join(sentences, " ")
}
