// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	podsecurity "k8s.io/pod-security-admission/api"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/golden"
	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/manifest"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
)

func checkFiles(t *testing.T, stdin string, paths ...string) []manifest.Problem {
	t.Helper()
	checker, err := manifest.NewChecker(validation.Options{SecurityProfile: podsecurity.LevelRestricted, ForeignServiceAccounts: true})
	if err != nil {
		t.Fatal(err)
	}
	documents, err := manifest.Read(strings.NewReader(stdin), false, paths...)
	if err != nil {
		t.Fatal(err)
	}
	problems := checker.AddClasses(t.Context(), documents)
	for _, d := range manifest.Applications(documents) {
		problems = append(problems, checker.Check(t.Context(), d)...)
	}
	return problems
}

// TestMistakeInALongFile: the search for the line of a mistake reads its own document alone, however often it does.
func TestMistakeInALongFile(t *testing.T) {
	good, broken := strings.Repeat("a: [1, 2, 3]\n---\n", 500), "b:\n"+strings.Repeat("- c: d\n", 100)+" e: f\n"
	var documents []*manifest.Document
	read := func(content string) float64 {
		return testing.AllocsPerRun(1, func() {
			var err error
			if documents, err = manifest.Read(strings.NewReader(content), false, "-"); err != nil {
				t.Error(err)
			}
		})
	}
	if apart, together := read(good)+read(broken), read(good+broken); together > 2*apart {
		t.Errorf("%.0f allocations, but %.0f for the parts", together, apart)
	}
	const want = "yaml: line 1102: did not find expected key"
	if _, err := documents[len(documents)-1].IsClass(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestCheck wants each rule to find what breaks it, at its line.
func TestCheck(t *testing.T) {
	problems := checkFiles(t, "", filepath.Join("testdata", "broken.yaml"))
	encoded, err := json.MarshalIndent(problems, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "broken.json", append(encoded, '\n'))
	sarif, err := json.MarshalIndent(manifest.ToSARIF(problems, "v1.2.3"), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "broken.sarif", append(sarif, '\n'))
	content, err := os.ReadFile(filepath.Join("testdata", "broken.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	got := map[string]string{}
	for _, problem := range problems {
		got[problem.Object+" "+string(problem.Rule)] = strings.TrimSpace(lines[problem.Line-1])
	}
	want := map[string]string{
		"Application/unknown-field schema":  "port: 8080",
		"Application/schema schema":         "replicas: many",
		"Application/cel cel":               "spec:",
		"Application/validation validation": "- name: validation",
		"Application/limit class":           "replicas: 4",
		" syntax":                           got[" syntax"],
	}
	if diff := cmp.Diff(want, got); diff != "" || got[" syntax"] == "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestExamples wants nothing wrong with the examples, but with the broken ones.
func TestExamples(t *testing.T) {
	for _, path := range []string{"full.yaml", "minimal.yaml", "gateway.yaml", "shop", "classes"} {
		if problems := checkFiles(t, "", filepath.Join("..", "..", "..", "..", "artifacts", "examples", path)); len(problems) > 0 {
			t.Errorf("%s: %+v", path, problems)
		}
	}
}

// TestDefaults wants no problem with what the webhook defaults before the API server checks the schema.
func TestDefaults(t *testing.T) {
	const route = `{"apiVersion": "apps.fairlead.dev/v1", "kind": "Application", "metadata": {"name": "web"}, "spec": {
  "image": "web:1", "ports": [{"name": "http", "containerPort": 8080}], "livenessProbe": {"httpGet": {"path": "live"}},
  "routes": [{"name": "public", "hostnames": ["Web.Example.COM"], "paths": [{"path": "api"}]}]}}`
	if problems := checkFiles(t, route, "-"); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
	problems := checkFiles(t, strings.Replace(route, `"containerPort": 8080`, `"containerPort": "http"`, 1), "-")
	if len(problems) == 0 || problems[0].Field != "spec.ports[0].containerPort" {
		t.Errorf("what cannot be decoded: %+v, want the schema's message", problems)
	}
}

// TestMetadata wants what the API server says about names and labels.
func TestMetadata(t *testing.T) {
	for metadata, want := range map[string]string{
		`{}`: "metadata.name: Required value",
		`{"name": "web", "labels": {"a/b/c": "d"}}`:                         "metadata.labels: Invalid value: \"a/b/c\": a valid label key",
		`{"name": "web", "labels": {"apps.fairlead.dev/application": "x"}}`: "metadata.labels[apps.fairlead.dev/application]: Forbidden: labels with the prefix apps.fairlead.dev/ are reserved for what Fairlead creates",
		`{"name": "web", "annotations": {"a b": "c"}}`:                      "metadata.annotations: Invalid value: \"a b\"",
		"{name: web,\n labels: {a: b},\n labels: {c: d}}":                   `: "labels" is there twice`,
	} {
		text := "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: " + metadata + "\nspec: {image: \"web:1\"}"
		problems := checkFiles(t, text, "-")
		if len(problems) != 1 || !strings.HasPrefix(problems[0].Field+": "+problems[0].Message, want) {
			t.Errorf("%s: %+v, want %q", metadata, problems, want)
		}
		if strings.Contains(want, "twice") && problems[0].Line != 5 {
			t.Errorf("a key that is there twice is at line %d, want 5", problems[0].Line)
		}
	}
}

// TestMisreadKeys: a file named off would be called false, or lose its content.
func TestMisreadKeys(t *testing.T) {
	const other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {on: x}\n---\n"
	for key, want := range map[string]string{
		`off`:  `the key off is read as "false": put it in quotes, "off"`,
		`010`:  `the key 010 is read as "8": put it in quotes, "010"`,
		`"on"`: "",
		`true`: "",
		`1`:    "",
	} {
		text := other + "apiVersion: apps.fairlead.dev/v1\nkind: Application\nmetadata: {name: web}\nspec:\n  image: web:1\n  config:\n    mountPath: /etc/web\n    data:\n      " + key + ": x\n"
		problems := checkFiles(t, text, "-")
		if want == "" && len(problems) > 0 || want != "" && (len(problems) != 1 || problems[0].Message != want || problems[0].Line != 14) {
			t.Errorf("%s: %+v, want %q at line 14", key, problems, want)
		}
	}
}

// TestInput reads standard input, Lists and JSON.
func TestInput(t *testing.T) {
	list := `{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "apps.fairlead.dev/v1", "kind": "Application", "metadata": {"name": "web"}, "spec": {"image": "web:1", "replicas": -1}}]}`
	problems := checkFiles(t, list, "-")
	if len(problems) != 1 || problems[0].Line != 2 || problems[0].Field != "spec.replicas" {
		t.Errorf("%+v", problems)
	}
	for text, want := range map[string]int{"": 0, list + "\n---\n" + list: 2} {
		documents, err := manifest.Read(strings.NewReader(text), false, "-")
		if found := manifest.Applications(documents); err != nil || len(found) != want {
			t.Errorf("%q: %d Applications, %v, want %d", text, len(found), err, want)
		}
	}
}

// TestAllOfTheSchema wants every mistake at once, as from the API server, and each of them once.
func TestAllOfTheSchema(t *testing.T) {
	object := func(kind, spec string) string {
		return fmt.Sprintf("apiVersion: apps.fairlead.dev/v1\nkind: %s\nmetadata: {name: web}\nspec: %s\n", kind, spec)
	}
	const wantsList = "Invalid value: must be a list of strings, not a string: "
	const oneOfTypes = `: Unsupported value: "LoadBalancers": supported values: "ClusterIP", "NodePort", "LoadBalancer"`
	for text, want := range map[string][]string{
		object("ApplicationClass", `{limits: {allowedServiceTypes: [LoadBalancers], allowedAnnotations: "*"}}`): {
			"spec.limits.allowedAnnotations: " + wantsList + `["*"]`, "spec.limits.allowedServiceTypes[0]" + oneOfTypes},
		object("Application", `{image: "web:1", service: {type: LoadBalancers}, command: web}`): {
			"spec.command: " + wantsList + "[web]", "spec.service.type" + oneOfTypes},
		object("Application", `{image: "web:1", replicas: -1, surplus: {}}`): {
			"spec.surplus: Forbidden: unknown field: remove it, or correct its name",
			"spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0"},
		object("Application", `{image: "web:1", env: [{name: A, valu: b}, {name: A}], ports: [{name: http}]}`): {
			"spec.env[0].valu: Forbidden: unknown field: did you mean value?",
			"spec.ports[0].containerPort: Required value",
			`spec.env[1]: Duplicate value: {"name":"A"}`},
		object("Application", `{image: "web:1", mounts: [{path: /a}, {path: /b}]}`): {
			"spec.mounts[0].path: Forbidden: unknown field: did you mean mountPath?",
			"spec.mounts[1].path: Forbidden: unknown field: did you mean mountPath?"},
		object("Application", `{image: "web:1", mounts: [{emptyDir: {}}, {emptyDir: {}}, {mountPath: /a}, {mountPath: /a}]}`): {
			"spec.mounts[0].mountPath: Required value", "spec.mounts[1].mountPath: Required value",
			`spec.mounts[3]: Duplicate value: {"mountPath":"/a"}`},
		object("Application", `{image: "web:1", sidecars: [{name: log, image: "log:1", ports: [{name: a}, {name: b}]}]}`): {
			"spec.sidecars[0].ports[0].containerPort: Required value", "spec.sidecars[0].ports[1].containerPort: Required value"},
		object("Application", `{imag: "web:1"}`): {"spec.imag: Forbidden: unknown field: did you mean image?"},
	} {
		var got []string
		for _, problem := range checkFiles(t, text, "-") {
			got = append(got, problem.Field+": "+problem.Message)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
