// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// paragraphs joins the lines of each description's paragraphs. They are broken to fit into source code, and kubectl
// explain would break them once more, to fit into a terminal.
func paragraphs(schema node) {
	if description, ok := schema["description"].(string); ok {
		schema["description"] = joinLines(description)
	}
	for _, below := range children(schema) {
		paragraphs(below)
	}
}

// joinLines leaves alone what is a line of its own: a list item, and a line that is indented or empty.
func joinLines(text string) string {
	var joined []string
	for line := range strings.SplitSeq(text, "\n") {
		last := len(joined) - 1
		if last < 0 || ownLine(line) || joined[last] == "" || strings.HasPrefix(joined[last], " ") {
			joined = append(joined, line)
			continue
		}
		joined[last] += " " + line
	}
	return strings.Join(joined, "\n")
}

func ownLine(line string) bool {
	for _, start := range []string{" ", "\t", "- ", "* "} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return line == ""
}
