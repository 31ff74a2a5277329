// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"maps"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/nearest"
)

// hintOfLayout says that a field is where it is because of the layout of the file: it lacks its indentation, or a comma in braces made it of
// the rest of a value. It is "" if nothing speaks for that.
func (d *Document) hintOfLayout(of *schema.Structural, path string) string {
	parent, name := parentAndName(path)
	object := d.at(parent)
	if parent == "" || object == nil || object.Kind != yamlv3.MappingNode {
		return "" // The fields beside metadata and spec are few, and their names tell where they belong.
	}
	pairs := slices.Collect(slices.Chunk(object.Content, 2)) // Of a key and a value.
	at := slices.IndexFunc(pairs, func(pair []*yamlv3.Node) bool { return pair[0].Value == name })
	if at < 0 {
		return ""
	}
	if object.Style&yamlv3.FlowStyle != 0 {
		return hintOfComma(pairs[:at], pairs[at][1])
	}
	fields := fieldsOf(of, parent)
	isTypo := nearest.To(name, slices.Collect(maps.Keys(fields))) != "" && name != strings.ToUpper(name) // PORT is no ports.
	for _, pair := range slices.Backward(pairs[:at]) {
		if above, known := fields[pair[0].Value]; known { // Between them may be others that lack their indentation too.
			return hintOfIndentation(pair[0].Value, &above, pair[1], name, isTypo)
		}
	}
	return ""
}

// hintOfComma is for a field without a value that follows others in braces.
func hintOfComma(before [][]*yamlv3.Node, value *yamlv3.Node) string {
	if !isNull(value) {
		return ""
	}
	for _, pair := range slices.Backward(before) {
		switch key, value := pair[0], pair[1]; {
		case isNull(value): // Each further comma makes a field like this one.
		case value.Kind == yamlv3.ScalarNode && value.Style == 0:
			return "a comma in braces ends a value: put the text of " + key.Value + " in quotes"
		default:
			return ""
		}
	}
	return ""
}

// hintOfIndentation is for the field with the name that follows another one, above, on the same level. isTypo means that a field of that level
// has nearly this name.
func hintOfIndentation(above string, of *schema.Structural, value *yamlv3.Node, name string, isTypo bool) string {
	switch {
	case isNull(value) && of.Items != nil && hasField(of.Items.Properties, name):
		return "indent it below " + above + ", where a hyphen begins each item"
	case isNull(value) && of.Items != nil && hasField(of.Items.Properties, "name") && !isTypo:
		return "write it below " + above + ", as an item: - " + itemNamed(of.Items, name)
	case isNull(value) && (hasField(of.Properties, name) || of.AdditionalProperties != nil && !isTypo):
		return "indent it below " + above
	case value.Kind == yamlv3.SequenceNode && len(value.Content) > 0 && of.Items != nil && hasField(of.Items.Properties, name):
		if last := original(value.Content[len(value.Content)-1]); last.Kind == yamlv3.MappingNode && child(last, name) == nil {
			return "indent it, as a field of the last item of " + above
		}
	}
	return ""
}

func isNull(node *yamlv3.Node) bool {
	return node.Kind == yamlv3.ScalarNode && node.ShortTag() == "!!null"
}
