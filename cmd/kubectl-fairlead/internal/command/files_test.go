// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// runOffline runs a command that looks at files alone.
func runOffline(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	code = Run(t.Context(), streams, args)
	return code, out.String(), errOut.String()
}

// files writes files into a directory, by their paths in it.
func files(t *testing.T, contents map[string]string) (directory string) {
	t.Helper()
	directory = t.TempDir()
	for name, content := range contents {
		path := filepath.Join(directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

func applicationFile(name, spec string) string {
	return "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: " + name + "}\nspec: {" + spec + "}\n"
}

// TestRenderAll renders each Application of the files, and nothing if one of them cannot be rendered.
func TestRenderAll(t *testing.T) {
	noClasses := "--class-file=" + t.TempDir()
	code, stdout, stderr := runOffline(t, "render", "-f", "../../../../artifacts/examples/shop/cart.yaml", noClasses, "-o", "name")
	if code != ExitYes || !strings.Contains(stdout, "\ndeployment.apps/cart\n") || !strings.Contains(stdout, "\ndeployment.apps/cart-cache\n") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, _ = runOffline(t, "render", "-f", "../../../../artifacts/examples/shop/cart.yaml", noClasses, "-o", "json")
	var list struct{ Items []any }
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != ExitYes || len(list.Items) != 13 {
		t.Errorf("exit code %d, %d children, %v", code, len(list.Items), err)
	}
	directory := files(t, map[string]string{"both.yaml": applicationFile("web", "image: web") + "---\n" + applicationFile("api", "image: api, className: gold")})
	code, stdout, stderr = runOffline(t, "render", "-f", directory, noClasses)
	const want = "error: default/api: the Application would wait for its class (ClassNotFound): spec.className: Not found: \"gold\": " +
		"there is no ApplicationClass of this name: name one that exists, or create it\n"
	if code != ExitError || stdout != "" || stderr != want {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
	if code, _, stderr = runOffline(t, "render", "-f", t.TempDir(), noClasses); code != ExitError || stderr != "error: there is no Application in the files\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	twice := files(t, map[string]string{"twice.yaml": applicationFile("web", "image: web") + "---\n" + applicationFile("web", "image: api")})
	if code, stdout, _ = runOffline(t, "render", "-f", twice, noClasses); code != ExitError || !strings.Contains(stdout, "twice.yaml:8: metadata.name: Duplicate value") {
		t.Errorf("exit code %d, %q", code, stdout)
	}
}

// TestDiffAll compares each Application of the files with the one of its name.
func TestDiffAll(t *testing.T) {
	noClasses := "--class-file=" + t.TempDir()
	before := files(t, map[string]string{
		"api.yaml": applicationFile("api", "image: api:1"), "old.yaml": applicationFile("old", "image: old:1"), "web.yaml": applicationFile("web", "image: web:1"),
		"zoo.yaml": applicationFile("zoo", "image: zoo:1"),
	})
	after := files(t, map[string]string{
		"all.yaml": strings.Join([]string{
			applicationFile("web", "image: web:1"), applicationFile("zoo", "image: zoo:1"), applicationFile("api", "image: api:2"), applicationFile("new", "image: new:1"),
		}, "---\n"),
	})
	code, stdout, stderr := runOffline(t, "diff", "-f", after, "--from", before, noClasses)
	for _, want := range []string{
		"default/web: nothing changes.\ndefault/zoo: nothing changes.\n\ndefault/api: ", "\n    .spec.template.spec.containers[api].image: \"api:1\" → \"api:2\"\n\ndefault/new: ",
		"\n+ Deployment/new  Create\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in %s", want, stdout)
		}
	}
	if code != ExitNo || stderr != "default/old is in --from alone: applying the other files leaves it as it is.\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}

	var list struct {
		Items []struct {
			Namespace, Name string
			Children        []any
		}
	}
	code, stdout, _ = runOffline(t, "diff", "-f", after, "--from", before, noClasses, "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || code != ExitNo || len(list.Items) != 4 ||
		list.Items[2].Namespace != "default" || list.Items[2].Name != "api" || len(list.Items[2].Children) != 2 {
		t.Errorf("exit code %d, %v: %s", code, err, stdout)
	}
	// One Application is no list.
	var one struct{ Name string }
	web := filepath.Join(before, "web.yaml")
	code, stdout, _ = runOffline(t, "diff", "-f", web, "--from", web, noClasses, "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &one); err != nil || code != ExitYes || one.Name != "web" {
		t.Errorf("exit code %d, %v: %s", code, err, stdout)
	}

	refused := files(t, map[string]string{"all.yaml": applicationFile("api", "image: api:1, className: gold") + "---\n" + applicationFile("web", "image: web:1")})
	code, stdout, stderr = runOffline(t, "diff", "-f", refused, "--from", refused, noClasses)
	if code != ExitError || stdout != "default/web: nothing changes.\n" ||
		!strings.HasPrefix(stderr, "error: default/api: the Application would wait for its class (ClassNotFound)") || !strings.HasSuffix(stderr, "\nerror: 1 of 2 Applications could not be compared\n") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

// TestRecursive: directories in directories are read with -R, and named without it.
func TestRecursive(t *testing.T) {
	noClasses := "--class-file=" + t.TempDir()
	directory := files(t, map[string]string{
		"web.yaml": applicationFile("web", "image: web"), "a/b/api.yml": applicationFile("api", "image: api"), "c.yaml/job.json": "{}",
		"notes/README.md": "Notes.", ".github/ci.yaml": "on: push",
	})
	in := func(name string) string { return filepath.Join(directory, name) }
	const lacks = "Subdirectories were not read: "
	note := lacks + in("a") + ", " + in("c.yaml") + ". To read them, too, pass -R.\n"
	for _, test := range []struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		{[]string{"lint", "-f", directory, noClasses}, ExitYes, "1 object checked, nothing found\n", note},
		{[]string{"lint", "-R", "-f", directory, noClasses}, ExitYes, "2 objects checked, nothing found\n", ""},
		{[]string{"lint", "-f", directory, "-f", in("a/b"), "-f", in("a/"), "-f", in("c.yaml"), noClasses}, ExitYes, "2 objects checked, nothing found\n", ""},
		{[]string{"lint", "-f", in("a"), noClasses}, ExitError, "", lacks + in("a/b") + ". To read them, too, pass -R.\n" +
			"error: there is no Application or ApplicationClass of apps.fairlead.dev/v1 in the files\n"},
		{[]string{"lint", "-f", in("notes"), "-f", in("web.yaml"), noClasses}, ExitYes, "1 object checked, nothing found\n", ""},
		{[]string{"diff", "-f", directory, "--from", directory, noClasses}, ExitYes, "default/web: nothing changes.\n", note},
		{[]string{"diff", "--recursive", "-f", directory, "--from", directory, noClasses}, ExitYes, "default/api: nothing changes.\ndefault/web: nothing changes.\n", ""},
	} {
		if code, stdout, stderr := runOffline(t, test.args...); code != test.code || stdout != test.stdout || stderr != test.stderr {
			t.Errorf("%q: exit code %d, %q, %q, want %d, %q, %q", test.args, code, stdout, stderr, test.code, test.stdout, test.stderr)
		}
	}
	if _, stdout, stderr := runOffline(t, "render", "-R", "-f", directory, noClasses, "-o", "name"); !strings.Contains(stdout, "deployment.apps/api\n") || stderr != "" {
		t.Errorf("render: %q, %q", stdout, stderr)
	}
	twice := files(t, map[string]string{"prod/web.yaml": applicationFile("web", "image: web:1"), "staging/web.yaml": applicationFile("web", "image: web:2")})
	const once = "pass files that have each Application once\n"
	if code, _, stderr := runOffline(t, "diff", "-R", "-f", twice, "--from", twice, noClasses); code != ExitError || !strings.HasPrefix(stderr, "error: default/web is at ") || !strings.HasSuffix(stderr, once) {
		t.Errorf("one name in two directories: exit code %d, %q", code, stderr)
	}
	many := files(t, map[string]string{"web.yaml": applicationFile("web", "image: web"), "a/a.yaml": "", "b/b.yaml": "", "c/c.yaml": "", "d/d.yaml": "", "e/e.yaml": ""})
	if _, _, stderr := runOffline(t, "lint", "-f", many, noClasses); !strings.HasSuffix(stderr, filepath.Join(many, "c")+", 2 more. To read them, too, pass -R.\n") {
		t.Errorf("many: %q", stderr)
	}
}
