// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	yamlstream "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Object names an object of a manifest.
type Object struct{ APIVersion, Kind, Name string }

func (o Object) String() string { return o.Kind + " " + o.Name }

// Take divides a manifest: taken has the objects of the namespace that are named, rest the others. A manifest that names no
// namespace means that of the release.
func Take(manifest, releaseNamespace, namespace string, objects []Object) (rest, taken string, err error) {
	documents, err := split(manifest)
	if err != nil {
		return "", "", err
	}
	var kept, removed []string
	for _, document := range documents {
		in := document.Namespace
		if in == "" {
			in = releaseNamespace
		}
		if in == namespace && slices.Contains(objects, document.object()) {
			removed = append(removed, document.text)
		} else {
			kept = append(kept, document.text)
		}
	}
	return join(kept), join(removed), nil
}

// Objects names what a manifest has, in its order.
func Objects(manifest string) ([]Object, error) {
	documents, err := split(manifest)
	if err != nil {
		return nil, err
	}
	objects := make([]Object, 0, len(documents))
	for _, document := range documents {
		objects = append(objects, document.object())
	}
	return objects, nil
}

// Join is one manifest of two.
func Join(first, second string) string {
	return strings.TrimSuffix(first, "\n") + "\n" + second
}

const separator = "---\n"

func join(documents []string) string {
	var manifest strings.Builder
	for _, document := range documents {
		manifest.WriteString(separator + strings.TrimSuffix(document, "\n") + "\n")
	}
	return manifest.String()
}

// document is one object of a manifest, as it is written.
type document struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	text string
}

func (d document) object() Object { return Object{d.APIVersion, d.Kind, d.Name} }

// split divides a manifest into its objects. Documents that have only comments go.
func split(manifest string) ([]document, error) {
	var documents []document
	for reader := yamlstream.NewYAMLReader(bufio.NewReader(strings.NewReader(manifest))); ; {
		text, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the manifest of the release: %w", err)
		}
		next := document{text: strings.TrimPrefix(string(text), separator)} // Only the first one still has it.
		if err := yaml.Unmarshal(text, &next); err != nil {
			return nil, fmt.Errorf("read the manifest of the release: %w", err)
		}
		switch {
		case next.Kind == "List":
			return nil, errors.New("the manifest of the release has a List, which this command does not divide")
		case next.Kind != "":
			documents = append(documents, next)
		}
	}
}
