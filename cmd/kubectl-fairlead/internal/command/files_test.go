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
	if code != ExitYes || !strings.Contains(stdout, "\ndeployments.apps/cart\n") || !strings.Contains(stdout, "\ndeployments.apps/cart-cache\n") {
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
