// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// TestLintWithoutTheClass: utilization is a share of a request, and that may come from a class that lint does not know.
func TestLintWithoutTheClass(t *testing.T) {
	const web = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: web\n  className: gold\n" +
		"  autoscaling: {minReplicas: 1, maxReplicas: 2, targetCPUUtilizationPercentage: 50}\n"
	const needs = "spec.autoscaling.targetCPUUtilizationPercentage: Forbidden: utilization is a share of the request: set resources.requests[cpu]"
	gives, silent := filepath.Join(t.TempDir(), "gives.yaml"), filepath.Join(t.TempDir(), "silent.yaml")
	for file, spec := range map[string]string{gives: "{defaults: {resources: {requests: {cpu: 100m}}}}", silent: "{}"} {
		class := "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: " + spec + "\n"
		if err := os.WriteFile(file, []byte(class), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"unknown", nil, ExitYes, "-:7: warning: " + needs + ", unless its class does; pass the classes with --class-file (validation)\n"},
		{"a class that gives it", []string{"--class-file=" + gives}, ExitYes, "2 objects checked, nothing found"},
		{"a class that does not", []string{"--class-file=" + silent}, ExitNo, "-:7: " + needs + " (validation)\n"},
	} {
		streams, in, out, _ := genericiooptions.NewTestIOStreams()
		in.WriteString(web)
		code := Run(t.Context(), streams, append([]string{"lint", "-f", "-"}, test.args...))
		if code != test.code || !strings.HasPrefix(out.String(), test.want) {
			t.Errorf("%s: exit code %d, %s, want %d, %s", test.name, code, out, test.code, test.want)
		}
	}
}

// TestLintOfDroppedDefaults: the class is in the file, so lint knows what the Application will lack.
func TestLintOfDroppedDefaults(t *testing.T) {
	const both = "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: mid}\nspec:\n  defaults:\n    resources: {limits: {memory: 256Mi}}\n---\n" +
		"apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: a}\nspec:\n  className: mid\n  image: a/b:1\n  resources: {requests: {memory: 512Mi}}\n"
	const want = `-:14: warning: spec.resources.limits[memory]: the default 256Mi of ApplicationClass "mid" is not taken, because your request 512Mi is higher: set a limit, or Fairlead sets none (effect)` + "\n"
	streams, in, out, _ := genericiooptions.NewTestIOStreams()
	in.WriteString(both)
	if code := Run(t.Context(), streams, []string{"lint", "-f", "-"}); code != ExitYes || !strings.HasPrefix(out.String(), want) {
		t.Errorf("exit code %d, %s, want %s", code, out, want)
	}
}
