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

// described returns the schema of a field in a generated definition, by the names of the fields that lead there.
func described(t *testing.T, file, path string) node {
	t.Helper()
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
	return schema
}

// TestDefaultsOfTheStrategy: kubectl explain must not contradict the default that spec.strategy names.
func TestDefaultsOfTheStrategy(t *testing.T) {
	for file, path := range map[string]string{
		"apps.fairlead.dev_applications.yaml":       "spec strategy rollingUpdate",
		"apps.fairlead.dev_applicationclasses.yaml": "spec defaults strategy rollingUpdate",
	} {
		schema := described(t, file, path)
		for field, want := range map[string]string{"maxSurge": "Defaults to 25%.", "maxUnavailable": "Defaults to 0, or to 1 if maxSurge is 0."} {
			description, _ := children(schema)[field]["description"].(string)
			if strings.Count(description, "Defaults to") != 1 || !strings.Contains(description, want) {
				t.Errorf("%s: %s: want %q in %q", file, field, want, description)
			}
		}
	}
}

// TestOperatorsOfTolerations: kubectl explain offers the operators that the webhook accepts, and no others.
func TestOperatorsOfTolerations(t *testing.T) {
	for file, path := range map[string]string{
		"apps.fairlead.dev_applications.yaml":       "spec tolerations [items] operator",
		"apps.fairlead.dev_applicationclasses.yaml": "spec defaults tolerations [items] operator",
	} {
		const want = "Operator represents a key's relationship to the value. Valid operators are Exists and Equal. Defaults to Equal. " +
			"Exists is equivalent to wildcard for value, so that a pod can tolerate all taints of a particular category."
		if description, _ := described(t, file, path)["description"].(string); description != want {
			t.Errorf("%s: %q, want %q", file, description, want)
		}
	}
}

// TestMatchLabelKeys: kubectl explain says what the keys do, which ones make sense, and nothing of what is true of a pod alone.
func TestMatchLabelKeys(t *testing.T) {
	for file, path := range map[string]string{
		"apps.fairlead.dev_applications.yaml":       "spec topologySpreadConstraints [items] matchLabelKeys",
		"apps.fairlead.dev_applicationclasses.yaml": "spec defaults topologySpreadConstraints [items] matchLabelKeys",
	} {
		description, _ := described(t, file, path)["description"].(string)
		for _, want := range []string{"Keys of labels of the pods. ", "Default: no key, ", "Use pod-template-hash ", "has apps.fairlead.dev/application."} {
			if !strings.Contains(description, want) || strings.Contains(description, "LabelSelector isn't set") {
				t.Errorf("%s: want %q in %q", file, want, description)
			}
		}
	}
}

// TestDefaultsOfSecurity: kubectl explain names the defaults of pkg/render, and no rule that is true of a pod alone.
func TestDefaultsOfSecurity(t *testing.T) {
	const applications = "apps.fairlead.dev_applications.yaml"
	for path, want := range map[string]string{
		"spec securityContext readOnlyRootFilesystem":                          "Defaults to true.",
		"spec sidecars [items] securityContext readOnlyRootFilesystem":         "Default is false.",
		"spec securityContext capabilities":                                    "If drop is unset or empty, all capabilities are dropped.",
		"spec initContainers [items] securityContext capabilities":             "If drop is unset or empty, all capabilities are dropped.",
		"spec podSecurityContext runAsNonRoot":                                 "Defaults to true. If false, no such validation will be performed.",
		"spec securityContext runAsNonRoot":                                    "If unset, the value of podSecurityContext applies, which is true by default.",
		"spec sidecars [items] securityContext runAsNonRoot":                   "If unset, the value of podSecurityContext applies, which is true by default.",
		"spec securityContext allowPrivilegeEscalation":                        "Defaults to false where that is possible.",
		"spec initContainers [items] securityContext allowPrivilegeEscalation": "Defaults to false where that is possible.",
		"spec strategy rollingUpdate":                                          "How many pods a rollout replaces at once. Not with type Recreate.",
		"spec lifecycle stopSignal":                                            "An Application cannot set it",
		"spec sidecars [items] lifecycle stopSignal":                           "An Application cannot set it",
	} {
		if description, _ := described(t, applications, path)["description"].(string); !strings.Contains(description, want) {
			t.Errorf("%s: want %q in %q", path, want, description)
		}
	}
	content, err := yaml.Marshal(described(t, applications, "spec"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(strings.Fields(string(content)), " "), "Cannot be updated") {
		t.Error("a field of an Application is said to be immutable")
	}
}

// TestImagesOfContainers: kubectl explain says that they are required, as the webhook does. Those of a pod template are optional.
func TestImagesOfContainers(t *testing.T) {
	for _, path := range []string{"spec sidecars [items] image", "spec initContainers [items] image"} {
		description, _ := described(t, "apps.fairlead.dev_applications.yaml", path)["description"].(string)
		if !strings.HasPrefix(description, "Container image name. Required. ") || strings.Contains(description, "optional") {
			t.Errorf("%s: %q", path, description)
		}
	}
}

// A new version of Kubernetes that says it otherwise is noticed.
func TestCorrect(t *testing.T) {
	rolling := func(description string) node {
		return node{"properties": node{"rollingUpdate": node{"properties": node{"maxSurge": node{}, "maxUnavailable": node{"description": description}}}}}
	}
	schema := rolling("Some. Cannot be updated. Defaults to 25%. More.")
	if err := correct("spec", schema); err != nil {
		t.Fatal(err)
	}
	if got := children(children(schema)["rollingUpdate"])["maxUnavailable"]["description"]; got != "Some. Defaults to 0, or to 1 if maxSurge is 0. More." {
		t.Errorf("got %q", got)
	}
	if err := correct("spec", rolling("The default is a quarter.")); err == nil {
		t.Error("an unknown description is accepted")
	}
}
