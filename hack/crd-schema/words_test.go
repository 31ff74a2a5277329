// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// A pattern becomes a rule with words, in front of other rules of the field. A value that tempts users, such as a * alone, has words of its own in some
// fields.
func TestExplain(t *testing.T) {
	name := func(maxLength any) node {
		return node{"type": "string", "maxLength": maxLength, "pattern": `^/`, "x-kubernetes-validations": []any{node{"rule": "true"}}}
	}
	quantity := node{"x-kubernetes-int-or-string": true, "maxLength": 64, "pattern": quantityPattern}
	schema := node{"properties": node{"list": node{"items": name(8)}, "map": node{"additionalProperties": quantity}}}
	if err := explain("spec", schema); err != nil {
		t.Fatal(err)
	}
	want := node{"properties": node{"list": node{"items": node{"type": "string", "maxLength": 8, "x-kubernetes-validations": []any{
		node{"rule": "self.matches(r'^/')", "message": "must start with /"}, node{"rule": "true"},
	}}}, "map": node{"additionalProperties": node{"x-kubernetes-int-or-string": true, "maxLength": 64, "x-kubernetes-validations": []any{
		node{"rule": "type(self) != string || self.matches(r'" + quantityPattern + "')", "message": "must be a quantity, such as 500m for half a CPU, or 64Mi or 64M of memory"},
	}}}}}
	if diff := cmp.Diff(want, schema); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
	limits := node{"properties": node{"limits": node{"properties": node{"allowedHostnames": node{"items": name(8)}}}}}
	if err := explain("spec", limits); err != nil {
		t.Fatal(err)
	}
	want = node{"properties": node{"limits": node{"properties": node{"allowedHostnames": node{"items": node{"type": "string", "maxLength": 8, "x-kubernetes-validations": []any{
		node{"rule": "self == '*' || self.matches(r'^/')", "message": "must start with /"}, node{"rule": "true"},
		node{"rule": "self != '*'", "message": instead[".limits.allowedHostnames.[items]"].message},
	}}}}}}}
	if diff := cmp.Diff(want, limits); diff != "" {
		t.Errorf("schema of limits (-want +got):\n%s", diff)
	}
	for _, bad := range []node{name(nil), {"type": "string", "maxLength": 8, "pattern": "^unknown$"}} {
		if err := explain("spec", node{"properties": node{"name": bad}}); err == nil || !strings.HasPrefix(err.Error(), "spec.name: the pattern ") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// Every pattern compiles, and has words that fit it.
func TestWords(t *testing.T) {
	for pattern, message := range words {
		if !strings.HasPrefix(message, "must ") || strings.ContainsAny(pattern, "'") {
			t.Errorf("%s: %s", pattern, message)
		}
		expression := regexp.MustCompile(pattern)
		_, example, found := strings.Cut(message, "such as ")
		if example, _, _ = strings.Cut(example, " "); found && !expression.MatchString(example) {
			t.Errorf("%s does not admit its own example, %s", pattern, example)
		}
	}
}

func TestJoinLines(t *testing.T) {
	for text, want := range map[string]string{
		"one":                             "one",
		"one sentence\nin two lines":      "one sentence in two lines",
		"one\ntwo\n\nthree\nfour":         "one two\n\nthree four",
		"either:\n- this\n- that,\nmore":  "either:\n- this\n- that, more",
		"an example:\n  a: b\n  c: d\nso": "an example:\n  a: b\n  c: d\nso",
	} {
		if diff := cmp.Diff(want, joinLines(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// The command kubectl explain shows each paragraph of these fields as one, with every value that the user may choose.
func TestExplainedFields(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "artifacts", "crds", "apps.fairlead.dev_applications.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var definition node
	if err := yaml.Unmarshal(content, &definition); err != nil {
		t.Fatal(err)
	}
	versions, _ := definition["spec"].(node)["versions"].([]any)
	root, _ := versions[0].(node)["schema"].(node)["openAPIV3Schema"].(node)
	for path, values := range map[string][]string{
		"spec.rollback.policy":       {"Never (the default)", "OnFailure:", "RolledBack"},
		"spec.configChangePolicy":    {"Rollout (the default)", "Ignore:"},
		"spec.disruptionBudget.mode": {"Auto (the default)", "Custom:", "Disabled:"},
		"spec.reconcilePolicy":       {"(Enforce, the default)", "(Observe)", "(Suspend)"},
		"spec.deletionPolicy":        {"(Delete, the default)", "(Orphan)"},
		"spec.adoptionPolicy":        {"Never (the default)", "Consented:", "apps.fairlead.dev/adoptable-by with the UID", "apps.fairlead.dev/application", "app.kubernetes.io/managed-by", "spec.paused"},
		"spec.autoscaling.behavior":  {"the field behavior of a HorizontalPodAutoscaler"},
		"spec.autoscaling":           {"Needs at least one of targetCPUUtilizationPercentage, targetMemoryUtilizationPercentage and metrics", "resources.requests.cpu"},
		"spec.priorityClassName":     {"While it does not exist, the API server refuses new pods"},
		"spec.strategy":              {"such as 1,", "such as 25%"},

		"spec.autoscaling.targetCPUUtilizationPercentage":    {"Needs resources.requests.cpu"},
		"spec.autoscaling.targetMemoryUtilizationPercentage": {"Needs resources.requests.memory"},
		"spec.disruptionBudget.minAvailable":                 {"such as 1 or 25%"},
		"spec.disruptionBudget.maxUnavailable":               {"such as 1 or 25%"},
	} {
		schema := root
		for name := range strings.SplitSeq(path, ".") {
			schema, _ = schema["properties"].(node)[name].(node)
		}
		description, _ := schema["description"].(string)
		for _, value := range values {
			if !strings.Contains(description, value) {
				t.Errorf("%s does not explain %q: %s", path, value, description)
			}
		}
		if strings.Contains(strings.ReplaceAll(description, "\n\n", ""), "\n") {
			t.Errorf("%s is broken into lines: %q", path, description)
		}
	}
}
