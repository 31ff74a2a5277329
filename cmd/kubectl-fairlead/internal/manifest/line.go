// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

var (
	pathStep   = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)
	syntaxLine = regexp.MustCompile(`line (\d+)`)
	// documentStart begins the documents of a file. The first may lack it.
	documentStart = regexp.MustCompile(`^---(\s|$)`)
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
	line := d.node.Line
	for at, rest := d.node, path; rest != ""; {
		next, key, below := stepInto(at, rest)
		if next == nil {
			break
		}
		at, line, rest = next, key.Line, below
	}
	return line
}

// maxPrefixes bounds how many prefixes of a document atMistake reads.
const maxPrefixes = 200

// atMistake is a syntax error with the line of the mistake. The decoder names the line where the map or list begins that the mistake is in,
// so this looks for the first lines of the document that fail alike.
func atMistake(content []byte, syntax error) error {
	found := syntaxLine.FindStringSubmatch(syntax.Error())
	if found == nil {
		return atFirstLine(content, syntax)
	}
	begins, err := strconv.Atoi(found[1])
	if err != nil {
		return syntax
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	start := min(len(lines), begins-1) - 1
	for start > 0 && !documentStart.Match(lines[start]) {
		start--
	}
	start = max(start, 0)
	numbering := bytes.Repeat([]byte("\n"), start) // The decoder counts the lines before the document, too.
	for count := begins; count <= min(len(lines), begins+maxPrefixes); count++ {
		if err := readAll(slices.Concat(numbering, bytes.Join(lines[start:count], nil))); err != nil && err.Error() == syntax.Error() {
			return errors.New(strings.Replace(syntax.Error(), found[0], fmt.Sprintf("line %d", count), 1))
		}
	}
	return syntax
}

// atFirstLine is an error that names no line, such as the one about an unknown anchor, with the first line that makes it. The lines up to
// a later one fail alike.
func atFirstLine(content []byte, syntax error) error {
	lines := bytes.SplitAfter(content, []byte("\n"))
	before := sort.Search(len(lines), func(i int) bool {
		err := readAll(bytes.Join(lines[:i+1], nil))
		return err != nil && err.Error() == syntax.Error()
	})
	return fmt.Errorf("yaml: line %d: %s", before+1, strings.TrimPrefix(syntax.Error(), "yaml: "))
}

// readAll returns the first syntax error of a file.
func readAll(content []byte) error {
	decoder := yamlv3.NewDecoder(bytes.NewReader(content))
	for {
		var node yamlv3.Node
		if err := decoder.Decode(&node); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// given is the text of a plain value in the file.
func (d *Document) given(path string) string {
	if at := d.at(path); at != nil {
		return at.Value
	}
	return ""
}

// at is the value in the file, or nil.
func (d *Document) at(path string) *yamlv3.Node {
	at := d.node
	for rest := path; rest != ""; {
		if at, _, rest = stepInto(at, rest); at == nil {
			return nil
		}
	}
	return original(at)
}

// stepInto follows the first step of a path. It returns the value of the field or the item of the list, the node that names it, and the
// rest of the path; nil if the file has no such value.
func stepInto(at *yamlv3.Node, path string) (value, key *yamlv3.Node, rest string) {
	at, path = original(at), strings.TrimPrefix(path, ".")
	step := pathStep.FindString(path)
	name := strings.Trim(step, `[]"`)
	switch at.Kind {
	case yamlv3.SequenceNode:
		if item := itemOf(at, name); item != nil {
			return item, item, path[len(step):]
		}
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(at.Content); i += 2 {
			length := len(step)
			if text := at.Content[i].Value; text != name {
				// A key such as web.yaml looks like more than one step.
				length = len(text)
				after, found := strings.CutPrefix(path, text)
				if !found || length <= len(step) || after != "" && after[0] != '.' && after[0] != '[' {
					continue
				}
			}
			if value == nil || len(path)-length < len(rest) {
				value, key, rest = at.Content[i+1], at.Content[i], path[length:]
			}
		}
	}
	return value, key, rest
}

// itemOf is the item of a list with the index or, as warnings name it, with the name; nil if there is none.
func itemOf(list *yamlv3.Node, name string) *yamlv3.Node {
	if index, err := strconv.Atoi(name); err == nil && index >= 0 && index < len(list.Content) {
		return list.Content[index]
	}
	for _, item := range list.Content {
		fields := original(item).Content
		for i := 0; i+1 < len(fields); i += 2 {
			if fields[i+1].Value == name && slices.Contains(namesOfItems, fields[i].Value) {
				return item
			}
		}
	}
	return nil
}

// namesOfItems are the fields by which warnings name the items of lists.
var namesOfItems = []string{"name", "mountPath", "key", "path", "topologyKey"}

// original is what an alias stands for, or else the node itself.
func original(node *yamlv3.Node) *yamlv3.Node {
	if node.Kind == yamlv3.AliasNode {
		return node.Alias
	}
	return node
}

// duplicateKey is the second of two equal keys, or nil. Keys that are no scalars have no text to compare.
func duplicateKey(node *yamlv3.Node) *yamlv3.Node {
	seen := map[string]bool{}
	for i, below := range node.Content {
		if node.Kind == yamlv3.MappingNode && i%2 == 0 && below.Kind == yamlv3.ScalarNode {
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

// misreadKey is the first key that Kubernetes does not read as it is written, such as on, which is true, and how it reads it. It is nil if
// there is none. A ConfigMap would get a file of another name. What an alias stands for may be outside of the node.
func misreadKey(node *yamlv3.Node) (key *yamlv3.Node, as string) {
	return misreadKeyIn(node, map[*yamlv3.Node]bool{})
}

// misreadKeyIn looks at each node once: what an alias stands for may have the alias in it.
func misreadKeyIn(node *yamlv3.Node, seen map[*yamlv3.Node]bool) (key *yamlv3.Node, as string) {
	node = original(node)
	if seen[node] {
		return nil, ""
	}
	seen[node] = true
	for i, below := range node.Content {
		if node.Kind == yamlv3.MappingNode && i%2 == 0 && below.Kind == yamlv3.ScalarNode && below.Style == 0 {
			var read map[string]any
			if err := yaml.Unmarshal([]byte(below.Value+": 0"), &read); err == nil && len(read) == 1 {
				if _, same := read[below.Value]; !same {
					return below, slices.Collect(maps.Keys(read))[0]
				}
			}
		}
		if found, as := misreadKeyIn(below, seen); found != nil {
			return found, as
		}
	}
	return nil, ""
}

// child is the value of a field.
func child(node *yamlv3.Node, name string) *yamlv3.Node {
	value, _, _ := stepInto(node, name)
	return value
}
