// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/hack/checks/documents"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/crdschema"
)

// TestManifestsInDocuments gives every Application and ApplicationClass of the documents to the schema and the rules of its
// CRD, and to the validation that the controller does. Every other block of YAML must at least be YAML.
func TestManifestsInDocuments(t *testing.T) {
	all, err := documents.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	resources, err := crdschema.Load(root + "/artifacts/crds")
	if err != nil {
		t.Fatal(err)
	}
	checked := map[string]int{}
	for _, document := range all {
		for _, block := range document.Blocks {
			if block.Language != "yaml" {
				continue
			}
			for text := range strings.SplitSeq(block.Text, "\n---\n") {
				object, err := crdschema.Decode([]byte(text))
				if err != nil {
					t.Errorf("%s:%d: %v", document.Path, block.Line, err)
					continue
				}
				if object["apiVersion"] != v1.SchemeGroupVersion.String() {
					continue
				}
				for _, problem := range checkManifest(t, resources, object) {
					t.Errorf("%s:%d: %s", document.Path, block.Line, problem)
				}
				if kind, _ := object["kind"].(string); strings.HasPrefix(document.Path, "docs/") {
					checked[kind]++
				}
			}
		}
	}
	if checked["Application"] < 10 || checked["ApplicationClass"] < 3 {
		t.Errorf("only these were found: %v; is the documents' format understood?", checked)
	}
}

func checkManifest(t *testing.T, resources map[string]*crdschema.Resource, object map[string]any) []string {
	t.Helper()
	kind, _ := object["kind"].(string)
	resource, found := resources[kind]
	if !found {
		return []string{"there is no kind " + kind}
	}
	if unknown := resource.Unknown(object); len(unknown) > 0 {
		return unknown
	}
	errs := resource.Check(t.Context(), object)
	if len(errs) == 0 {
		errs = validateManifest(t, kind, object)
	}
	problems := make([]string, len(errs))
	for i, err := range errs {
		problems[i] = err.Error()
	}
	return problems
}

func validateManifest(t *testing.T, kind string, object map[string]any) field.ErrorList {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if kind == v1.ApplicationKind {
		application := &v1.Application{}
		if err := yaml.UnmarshalStrict(text, application); err != nil {
			t.Fatal(err)
		}
		return validation.ValidateApplication(application, validation.Options{})
	}
	class := &v1.ApplicationClass{}
	if err := yaml.UnmarshalStrict(text, class); err != nil {
		t.Fatal(err)
	}
	return validation.ValidateApplicationClass(class)
}

// TestGuidesHaveTheSameForm keeps the guides to goal, manifest, check and what can go wrong, and lists each of them.
func TestGuidesHaveTheSameForm(t *testing.T) {
	all, err := documents.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	list, guides := read(t, "docs/guides/README.md"), 0
	for _, document := range all {
		name, isGuide := strings.CutPrefix(document.Path, "docs/guides/")
		if !isGuide || name == "README.md" {
			continue
		}
		guides++
		var headings []string
		for line := range strings.Lines(document.Text) {
			if heading, found := strings.CutPrefix(line, "## "); found {
				headings = append(headings, strings.TrimSpace(heading))
			}
		}
		if got := strings.Join(headings, ", "); got != "Goal, Manifest, Check, What can go wrong" {
			t.Errorf("%s has the headings %s", document.Path, got)
		}
		if !strings.Contains(list, "("+name+")") {
			t.Errorf("docs/guides/README.md does not list %s", name)
		}
	}
	if guides == 0 {
		t.Error("there is no guide")
	}
}
