// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// manifest is one object of a YAML file, as it is written there.
type manifest struct {
	file   string
	text   []byte
	object *unstructured.Unstructured
}

func (m manifest) isApplication() bool {
	return m.object.GetKind() == v1.ApplicationKind && m.object.GetAPIVersion() == v1.SchemeGroupVersion.String()
}

func (m manifest) String() string {
	return fmt.Sprintf("%s %s of %s", m.object.GetKind(), m.object.GetName(), m.file)
}

// loadDir reads the *.yaml files right in a directory, as `kubectl apply -f` does, in the order of their names.
func loadDir(dir string) ([]manifest, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no *.yaml file in %s", dir)
	}
	var all []manifest
	for _, file := range files {
		manifests, err := loadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, manifests...)
	}
	return all, nil
}

// loadFile reads the objects of one file. Documents without an object, only comments, are left out.
func loadFile(file string) ([]manifest, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var manifests []manifest
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return manifests, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &object.Object); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if len(object.Object) > 0 {
			manifests = append(manifests, manifest{file: file, text: text, object: object})
		}
	}
}

// applicationNames are those of the Applications among the manifests, in their order.
func applicationNames(manifests []manifest) []string {
	var names []string
	for _, m := range manifests {
		if m.isApplication() {
			names = append(names, m.object.GetName())
		}
	}
	return names
}

// withoutKind leaves out the objects of one kind.
func withoutKind(manifests []manifest, kind string) []manifest {
	var rest []manifest
	for _, m := range manifests {
		if !strings.EqualFold(m.object.GetKind(), kind) {
			rest = append(rest, m)
		}
	}
	return rest
}
