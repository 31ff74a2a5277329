// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMistakesAppliedServerSide makes the mistakes for which docs/applications.md has the words of server-side apply, and looks them up there.
func TestMistakesAppliedServerSide(t *testing.T) {
	t.Parallel()
	e := newEnv(t, shared.Get(t))
	page, err := os.ReadFile("../../../docs/applications.md")
	if err != nil {
		t.Fatal(err)
	}
	for spec, want := range map[string]string{
		"replica: 1":                  "field not declared in schema",
		"env: [{name: A, value: 1}]":  "expected string, got",
		"config: {data: {a: {b: c}}}": "expected string, got",
		"replicas: two":               "expected numeric",
		"paused: 'yes'":               "expected boolean",
		"ports: 8080":                 "expected list, got",
		"env: {A: b}":                 "expected list, got",
		"ports: [8080]":               "may not have non-map elements",
		"imagePullSecrets: [regcred]": "may not have non-map elements",
		"networkPolicy: {ingress: [{ports: [{port: 80}]}]}": "associative list without keys",
		"config: text": "expected map, got",
		"mounts: [{mountPath: /a, emptyDir: true}]":       "expected map, got",
		"ports: [{containerPort: 80}]":                    "omits all key fields",
		"env: [{name: A, value: a}, {name: A, value: b}]": "duplicate entries for key",
	} {
		t.Run(spec, func(t *testing.T) {
			body := e.sub(t).decode("apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: registry.example.com/web:1, " + spec + "}\n")[0]
			_, err := e.resource(body.GroupVersionKind()).Apply(t.Context(), "web", body, metav1.ApplyOptions{FieldManager: "test", DryRun: []string{metav1.DryRunAll}})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
			if !strings.Contains(string(page), "`"+want+"`") {
				t.Errorf("docs/applications.md lacks %q", want)
			}
		})
	}
}
