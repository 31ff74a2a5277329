// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestDefaultsOfTheStrategy: kubectl explain must not contradict the default that spec.strategy names.
func TestDefaultsOfTheStrategy(t *testing.T) {
	for file, path := range map[string]string{
		"apps.fairlead.dev_applications.yaml":       "spec strategy rollingUpdate",
		"apps.fairlead.dev_applicationclasses.yaml": "spec defaults strategy rollingUpdate",
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", "artifacts", "crds", file))
		if err != nil {
			t.Fatal(err)
		}
		var definition node
		if err := yaml.Unmarshal(content, &definition); err != nil {
			t.Fatal(err)
		}
		version := definition["spec"].(node)["versions"].([]any)[0].(node)
		schema := version["schema"].(node)["openAPIV3Schema"].(node)
		for name := range strings.FieldsSeq(path) {
			schema = children(schema)[name]
		}
		for field, want := range map[string]string{"maxSurge": "Defaults to 25%.", "maxUnavailable": "Defaults to 0, or to 1 if maxSurge is 0."} {
			description, _ := children(schema)[field]["description"].(string)
			if strings.Count(description, "Defaults to") != 1 || !strings.Contains(description, want) {
				t.Errorf("%s: %s: want %q in %q", file, field, want, description)
			}
		}
	}
}

// A new version of Kubernetes that says it otherwise is noticed.
func TestOwnDefaults(t *testing.T) {
	rolling := func(description string) node {
		return node{"properties": node{"rollingUpdate": node{"properties": node{"maxSurge": node{}, "maxUnavailable": node{"description": description}}}}}
	}
	schema := rolling("Some. Defaults to 25%. More.")
	if err := ownDefaults("spec", schema); err != nil {
		t.Fatal(err)
	}
	if got := children(children(schema)["rollingUpdate"])["maxUnavailable"]["description"]; got != "Some. Defaults to 0, or to 1 if maxSurge is 0. More." {
		t.Errorf("got %q", got)
	}
	if err := ownDefaults("spec", rolling("The default is a quarter.")); err == nil {
		t.Error("an unknown description is accepted")
	}
}
