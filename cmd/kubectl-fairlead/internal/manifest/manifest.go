// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads Applications and ApplicationClasses from files, and checks them without a cluster: by the schema
// and the CEL rules of the CRDs, as an API server would, then by the rules of the webhooks and the limits of the class.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// kindClass is the kind of an ApplicationClass.
const kindClass = "ApplicationClass"

// Document is one object of a file.
type Document struct {
	File string
	Kind string
	Name string
	// object is what the file says; node knows the lines.
	object map[string]any
	node   *yamlv3.Node
	// syntax is why the document cannot be read.
	syntax error
}

// ClassName is the class that an Application names.
func (d *Document) ClassName() string {
	name, _, _ := unstructured.NestedString(d.object, "spec", "className")
	return name
}

func (d *Document) namespace() string {
	namespace, _, _ := unstructured.NestedString(d.object, "metadata", "namespace")
	return namespace
}

// IsClass reports whether the document is an ApplicationClass. The error is why it cannot be read.
func (d *Document) IsClass() (bool, error) { return d.Kind == kindClass, d.syntax }

// parse splits a file into documents. What follows a syntax error cannot be read.
func parse(file string, content []byte) []*Document {
	var documents []*Document
	decoder := yamlv3.NewDecoder(bytes.NewReader(content))
	for {
		var node yamlv3.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			return documents
		case err != nil:
			return append(documents, &Document{File: file, syntax: withCause(content, atMistake(content, err))})
		case len(node.Content) == 1:
			documents = append(documents, documentsOf(file, node.Content[0])...)
		}
	}
}

// documentsOf returns the object of a node, or those of a List. They are read together: an alias may be of another item.
func documentsOf(file string, node *yamlv3.Node) []*Document {
	d := &Document{File: file, node: node}
	spellNulls(node)
	text, err := yamlv3.Marshal(node)
	if err != nil {
		d.syntax = err
		return []*Document{d}
	}
	if twice := duplicateKey(node); twice != nil {
		d.node, d.syntax = twice, fmt.Errorf("%q is there twice", twice.Value)
		return []*Document{d}
	}
	encoded, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		d.node, d.syntax = unreadable(node, err)
		return []*Document{d}
	}
	if err := json.Unmarshal(encoded, &d.object); err != nil {
		return nil // No object: a list or a scalar is nothing of Kubernetes.
	}
	return d.objects()
}

// objects are the document, or the items of a List.
func (d *Document) objects() []*Document {
	d.Kind, _ = d.object["kind"].(string)
	if d.Kind == "List" {
		var items []*Document
		objects, _ := d.object["items"].([]any)
		list := child(d.node, "items")
		for i, item := range objects {
			node := d.node // The items of a merge key have none.
			if list != nil && i < len(original(list).Content) {
				node = original(original(list).Content[i])
			}
			if object, ok := item.(map[string]any); ok {
				items = append(items, (&Document{File: d.File, node: node, object: object}).objects()...)
			}
		}
		return items
	}
	if !d.isOurs() && !d.isNamespace() {
		return nil
	}
	if misread, as := misreadKey(d.node); misread != nil && d.isOurs() {
		d.node, d.syntax = misread, misreadError(misread, as)
		return []*Document{d}
	}
	if metadata, ok := d.object["metadata"].(map[string]any); ok {
		d.Name, _ = metadata["name"].(string)
	}
	return []*Document{d}
}

// spellNulls writes null for values that are left out. Of those in braces or brackets, the encoder would make empty strings.
func spellNulls(node *yamlv3.Node) {
	if node.Kind == yamlv3.ScalarNode && node.Value == "" && node.ShortTag() == "!!null" {
		node.Value = "null"
	}
	for _, below := range node.Content {
		spellNulls(below)
	}
}

// isOurs reports whether the object is of Fairlead's API, or means to be. Argo CD and others have the kind Application too, in groups of
// their own; Kubernetes has it neither in its group apps nor in the one without a name.
func (d *Document) isOurs() bool {
	version, _ := d.object["apiVersion"].(string)
	group, _, grouped := strings.Cut(version, "/")
	misspelt := !grouped || group == "" || group == appsv1.GroupName || strings.Contains(group, "fairlead")
	return group == v1.SchemeGroupVersion.Group || misspelt && d.isKnown()
}

// wrongVersion says which apiVersion a kind of Fairlead needs.
func (d *Document) wrongVersion(version string) *field.Error {
	path, needs := field.NewPath("apiVersion"), fmt.Sprintf("kind %s needs apiVersion %s", d.Kind, v1.SchemeGroupVersion)
	if version == "" {
		return field.Required(path, needs)
	}
	return field.Invalid(path, version, needs)
}

func (d *Document) isKnown() bool { return d.Kind == v1.ApplicationKind || d.Kind == kindClass }

// Unknown returns a problem for each object of Fairlead's API of a kind that it does not have.
func Unknown(documents []*Document) []Problem {
	var problems []Problem
	for _, d := range documents {
		if d.syntax == nil && !d.isKnown() && !d.isNamespace() {
			err := field.NotSupported(field.NewPath("kind"), d.Kind, []string{v1.ApplicationKind, kindClass})
			problems = append(problems, d.problems(Schema, field.ErrorList{err})...)
		}
	}
	return problems
}

// Applications are the documents that are Applications.
func Applications(documents []*Document) []*Document {
	return slices.DeleteFunc(slices.Clone(documents), func(d *Document) bool { return d.Kind != v1.ApplicationKind && d.syntax == nil })
}
