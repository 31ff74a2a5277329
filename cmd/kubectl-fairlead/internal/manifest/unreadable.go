// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// rewrittenLine is what the library says before a message: its line is of the text that this package wrote, and not of the file.
var rewrittenLine = regexp.MustCompile(`^(yaml: )?(unmarshal errors:\s+)?(line \d+: )?`)

const ofTemplate = "if this is a template, lint its output, such as the output of helm template"

// withCause adds to an error of the parser what mostly causes it. What the parser finds in a template says nothing to its author.
func withCause(content []byte, syntax error) error {
	const noToken, noName, braces = "cannot start any token", "alphabetic or numeric character", "{{"
	message, line := syntax.Error(), lineOf(content, syntax)
	var cause string
	switch ofLine := strings.Contains(line, braces); {
	case strings.Contains(message, noToken) && !ofLine && strings.Contains(line, "\t"):
		return fmt.Errorf("%w, probably a tab: indent with spaces", syntax)
	case strings.Contains(message, noToken) && !ofLine:
		cause = "put the value in quotes"
	case strings.Contains(message, noName) && !ofLine && strings.Contains(line, "*"):
		cause = "put the value in quotes, since * begins an alias"
	case strings.Contains(message, noName) && !ofLine:
		cause = "put the value in quotes, since & begins an anchor"
	case bytes.Contains(content, []byte(braces)):
		cause = ofTemplate
	default:
		return syntax
	}
	return fmt.Errorf("%w: %s", syntax, cause)
}

// lineOf is the line that a syntax error names; "" if it names none of the file.
func lineOf(content []byte, syntax error) string {
	found := syntaxLine.FindStringSubmatch(syntax.Error())
	if found == nil {
		return ""
	}
	lines := strings.Split(string(content), "\n")
	if count, err := strconv.Atoi(found[1]); err == nil && count > 0 && count <= len(lines) {
		return lines[count-1]
	}
	return ""
}

// unreadable says why JSON cannot have the YAML, at the node that is the cause.
func unreadable(node *yamlv3.Node, cause error) (at *yamlv3.Node, err error) {
	if at, err := noValue(node); at != nil {
		return at, err
	}
	if misread, as := misreadKey(node); misread != nil {
		return misread, misreadError(misread, as)
	}
	if alias := unknownAlias(node, map[*yamlv3.Node]bool{}); alias != nil {
		node = alias
	}
	return node, errors.New(rewrittenLine.ReplaceAllString(cause.Error(), ""))
}

// unknownAlias is the first alias whose anchor is not before it in the document, but in an earlier one; nil if there is none.
func unknownAlias(node *yamlv3.Node, anchors map[*yamlv3.Node]bool) *yamlv3.Node {
	if node.Kind == yamlv3.AliasNode && !anchors[node.Alias] {
		return node
	}
	anchors[node] = true
	for _, below := range node.Content {
		if found := unknownAlias(below, anchors); found != nil {
			return found
		}
	}
	return nil
}

func misreadError(key *yamlv3.Node, as string) error {
	return fmt.Errorf("the key %s is read as %q: put it in quotes, %q", key.Value, as, key.Value)
}

// noValue is the first node that JSON cannot have, and why.
func noValue(node *yamlv3.Node) (*yamlv3.Node, error) {
	if node.Kind == yamlv3.ScalarNode {
		var value any
		if err := node.Decode(&value); err != nil {
			return node, errors.New(rewrittenLine.ReplaceAllString(err.Error(), ""))
		}
		return nil, nil
	}
	for i, below := range node.Content {
		if node.Kind == yamlv3.MappingNode && i%2 == 0 {
			if err := noKey(below, node.Content[i+1]); err != nil {
				return below, err
			}
		} else if err := noNumber(below); err != nil {
			return below, err
		}
		if at, err := noValue(below); at != nil {
			return at, err
		}
	}
	return nil, nil
}

// noNumber says why JSON cannot have a number. As a key, it is a string.
func noNumber(value *yamlv3.Node) error {
	var number float64
	isNumber := value.ShortTag() == "!!float" && value.Decode(&number) == nil
	if !isNumber || !math.IsInf(number, 0) && !math.IsNaN(number) {
		return nil
	}
	return fmt.Errorf("JSON has no such number as %s: write another one; if it is text, put it in quotes", value.Value)
}

// noKey says why JSON cannot have a key. A template has braces in braces, which are a map whose key is a map.
func noKey(key, value *yamlv3.Node) error {
	switch of := original(key); {
	case of.Kind == yamlv3.MappingNode:
		return errors.New("a key is a map: " + ofTemplate + "; else put the key in quotes")
	case of.Kind != yamlv3.ScalarNode:
		return errors.New("a key is a list: put it in quotes")
	case of.ShortTag() == "!!null":
		return errors.New("a key is null: give it a name; if the name is null, put it in quotes")
	case key.ShortTag() == "!!merge" && !isMergeable(value):
		return errors.New("<< takes a map or a list of maps, such as an alias of one")
	}
	return nil
}

func isMergeable(value *yamlv3.Node) bool {
	value = original(value)
	if value.Kind != yamlv3.SequenceNode {
		return value.Kind == yamlv3.MappingNode
	}
	for _, item := range value.Content {
		if original(item).Kind != yamlv3.MappingNode {
			return false
		}
	}
	return true
}
