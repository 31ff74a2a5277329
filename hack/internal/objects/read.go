// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package objects reads objects from YAML files, and applies and deletes them as kubectl does on the server's side.
package objects

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ReadDir reads the *.yaml files of a directory, in the order of their names. There must be at least one.
func ReadDir(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no *.yaml in %s", dir)
	}
	return ReadFiles(files...)
}

// ReadFiles reads the objects of files.
func ReadFiles(files ...string) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		objects, err := Decode(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", file, err)
		}
		all = append(all, objects...)
	}
	return all, nil
}

// Decode reads the objects of a YAML stream. It leaves out documents that are empty.
func Decode(documents io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(documents, 4<<10); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// Name is the kind, namespace and name of an object, for people.
func Name(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetKind() + " " + object.GetName()
	}
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}
