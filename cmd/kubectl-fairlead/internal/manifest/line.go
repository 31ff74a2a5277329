// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

var (
	pathStep   = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)
	syntaxLine = regexp.MustCompile(`line (\d+)`)
)

// line is where the field is in the file, or the nearest field above that the file has.
func (d *Document) line(path string) int {
	if d.node == nil {
		if found := syntaxLine.FindStringSubmatch(d.syntax.Error()); found != nil {
			if line, err := strconv.Atoi(found[1]); err == nil {
				return line
			}
		}
		return 1
	}
	at, line := d.node, d.node.Line
	for _, step := range pathStep.FindAllString(path, -1) {
		next, key := stepInto(at, strings.Trim(step, "[]"))
		if next == nil {
			break
		}
		at, line = next, key.Line
	}
	return line
}

// given is the text of a plain value in the file.
func (d *Document) given(path string) string {
	at := d.node
	for _, step := range pathStep.FindAllString(path, -1) {
		if at, _ = stepInto(at, strings.Trim(step, "[]")); at == nil {
			return ""
		}
	}
	if at.Kind == yamlv3.AliasNode {
		at = at.Alias
	}
	return at.Value
}

// stepInto returns the value of a field or the item of a list, and the node that names it.
func stepInto(at *yamlv3.Node, step string) (value, key *yamlv3.Node) {
	if at.Kind == yamlv3.SequenceNode {
		index, err := strconv.Atoi(step)
		if err != nil || index < 0 || index >= len(at.Content) {
			return nil, nil
		}
		return at.Content[index], at.Content[index]
	}
	for i := 0; at.Kind == yamlv3.MappingNode && i+1 < len(at.Content); i += 2 {
		if at.Content[i].Value == strings.Trim(step, `"`) {
			return at.Content[i+1], at.Content[i]
		}
	}
	return nil, nil
}

// duplicateKey is the second of two equal keys, or nil.
func duplicateKey(node *yamlv3.Node) *yamlv3.Node {
	seen := map[string]bool{}
	for i, below := range node.Content {
		if node.Kind == yamlv3.MappingNode && i%2 == 0 {
			if seen[below.Value] {
				return below
			}
			seen[below.Value] = true
		}
		if found := duplicateKey(below); found != nil {
			return found
		}
	}
	return nil
}

// child is the value of a field.
func child(node *yamlv3.Node, name string) *yamlv3.Node {
	value, _ := stepInto(node, name)
	return value
}
