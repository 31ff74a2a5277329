// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command crd-schema makes the CustomResourceDefinitions that controller-gen has written refuse what Go cannot decode, and
// lists and maps without end. hack/update-codegen.sh runs it. It works on every field, Kubernetes' own types included, so
// that none is forgotten.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crd-schema DIRECTORY")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crd-schema:", err)
		os.Exit(1)
	}
}

func run(directory string) error {
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no *.yaml file in %s", directory)
	}
	for _, file := range files {
		if err := rewrite(file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// rewrite tightens the schemas of the definition in a file.
func rewrite(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var definition node
	if err := yaml.Unmarshal(content, &definition); err != nil {
		return err
	}
	spec, _ := definition["spec"].(node)
	versions, _ := spec["versions"].([]any)
	if len(versions) == 0 {
		return errors.New("no version, so it is no CustomResourceDefinition")
	}
	for i := range versions {
		version, _ := versions[i].(node)
		schema, _ := version["schema"].(node)
		root, ok := schema["openAPIV3Schema"].(node)
		if !ok {
			return fmt.Errorf("version %d has no schema", i)
		}
		properties, _ := root["properties"].(node)
		if root["x-kubernetes-validations"] != nil {
			declareName(properties)
		}
		tighten(root)
		desired, ok := properties["spec"].(node) // Only the controller writes the status, and pkg/status limits it.
		if !ok {
			return fmt.Errorf("version %d has no spec", i)
		}
		limit("spec", desired, 0)
		if err := explain("spec", desired); err != nil {
			return err
		}
		paragraphs(root)
		if err := correct("spec", desired); err != nil {
			return err
		}
	}
	if content, err = yaml.Marshal(definition); err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), content...), 0o644)
}

// declareName adds metadata.name to the schema, so that the fieldPath of a rule of the root may name it. The API server wants
// such a path to lead to a declared field, and controller-gen declares none of metadata.
func declareName(properties node) {
	if metadata, ok := properties["metadata"].(node); ok {
		metadata["properties"] = node{"name": node{"type": "string"}}
	}
}
