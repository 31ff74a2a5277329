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

// TestLintOfClasses: a class file that has no class is not what the user meant, and a class that the files do not have is found.
func TestLintOfClasses(t *testing.T) {
	directory := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(directory, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	web := write("web.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web, className: gold}\n")
	plain := write("plain.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: plain}\nspec: {image: web}\n")
	gold := write("gold.yaml", "apiVersion: apps.fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: gold}\nspec: {}\n")
	other := write("deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n")
	broken := write("broken.yaml", "a: [\n")
	empty := t.TempDir()
	missing := web + `:4: spec.className: Not found: "gold": there is no ApplicationClass of this name: name one that exists, or create it (class)`
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{name: "the class", args: []string{web, "--class-file=" + gold}, code: ExitYes, want: "2 objects checked, nothing found"},
		{name: "no class file", args: []string{web}, code: ExitYes, want: "1 object checked, nothing found; its class gold was not: pass it with --class-file"},
		{name: "no class", args: []string{plain}, code: ExitYes, want: "1 object checked, nothing found"},
		{name: "a platform without classes", args: []string{web, "--class-file=" + empty}, code: ExitNo, want: missing},
		{name: "no class on a platform without classes", args: []string{plain, "--class-file=" + empty}, code: ExitYes, want: "1 object checked, nothing found"},
		{name: "another object", args: []string{web, "--class-file=" + other}, code: ExitError, want: "error: --class-file: there is no ApplicationClass of apps.fairlead.dev/v1 in " + other},
		{name: "one of two files", args: []string{web, "--class-file=" + gold + "," + other}, code: ExitError, want: "error: --class-file: there is no ApplicationClass of apps.fairlead.dev/v1 in " + other},
		{name: "a broken file", args: []string{plain, "--class-file=" + broken}, code: ExitError, want: "error: --class-file: " + broken + ": yaml: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			code := Run(t.Context(), streams, append([]string{"lint", "-f"}, test.args...))
			got := strings.TrimSpace(out.String() + errOut.String())
			if test.name == "a broken file" && strings.HasPrefix(got, test.want) {
				got = test.want // The rest is the parser's.
			}
			if code != test.code || got != test.want {
				t.Errorf("exit code %d, %q, want %d, %q", code, got, test.code, test.want)
			}
		})
	}
}

// TestLintOfMisspeltKinds: a typing error in kind or apiVersion must not pass as an object of another API.
func TestLintOfMisspeltKinds(t *testing.T) {
	const good = "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec: {image: web}\n---\n"
	const passes = "1 object checked, nothing found"
	for name, test := range map[string]struct {
		object string
		code   int
		want   string
	}{
		"a kind":                 {"apiVersion: apps.fairlead.dev/v1\nkind: Applicationn\nmetadata: {name: a}\n", ExitNo, `-:7: kind: Unsupported value: "Applicationn": supported values: "Application", "ApplicationClass" (schema)`},
		"no kind":                {"apiVersion: apps.fairlead.dev/v1\nmetadata: {name: a}\n", ExitNo, `-:6: kind: Unsupported value: "": supported values: "Application", "ApplicationClass" (schema)`},
		"no apiVersion":          {"kind: Application\nmetadata: {name: a}\n", ExitNo, `-:6: apiVersion: Unsupported value: "": supported values: "apps.fairlead.dev/v1" (schema)`},
		"a group":                {"apiVersion: fairlead.dev/v1\nkind: ApplicationClass\nmetadata: {name: a}\n", ExitNo, `-:6: apiVersion: Unsupported value: "fairlead.dev/v1": supported values: "apps.fairlead.dev/v1" (schema)`},
		"an Application of Argo": {"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n", ExitYes, passes},
		"values of a chart":      {"image: {tag: v1}\n", ExitYes, passes},
	} {
		t.Run(name, func(t *testing.T) {
			streams, in, out, errOut := genericiooptions.NewTestIOStreams()
			in.WriteString(good + test.object)
			code := Run(t.Context(), streams, []string{"lint", "-f", "-"})
			if got := strings.TrimSpace(out.String() + errOut.String()); code != test.code || got != test.want {
				t.Errorf("exit code %d, %q, want %d, %q", code, got, test.code, test.want)
			}
		})
	}
}
