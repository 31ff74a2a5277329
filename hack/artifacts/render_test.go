// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package artifacts

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// overlays returns the directories of artifacts/overlays that can be deployed.
func overlays(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "artifacts", "overlays", "*", "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there is no overlay")
	}
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = filepath.Base(filepath.Dir(file))
	}
	return names
}

// variants are the overlays, and those with the component aggregated-api, as directories.
func variants(t *testing.T) []string {
	t.Helper()
	all := []string{aggregated, aggregated + "-cert-manager", aggregated + "-connect", aggregated + "-timeline"}
	for _, overlay := range overlays(t) {
		all = append(all, "artifacts/overlays/"+overlay)
	}
	return all
}

// aggregated is a kustomization as a platform team writes it.
const aggregated = "hack/artifacts/testdata/aggregated-api"

// built are the results of build, since several tests read one directory. The tests run one after the other, and make generate,
// which writes into these directories, runs one test alone.
var built = map[string][]byte{}

// build returns what kustomize renders of a directory.
func build(t *testing.T, directory string) []byte {
	t.Helper()
	if _, found := built[directory]; !found {
		readArtifacts(t)
		built[directory] = tool(t, "kustomize", "kustomize", "build", directory)
	}
	return built[directory]
}

// tool runs one of the tools of hack/tools and returns what it prints.
func tool(t *testing.T, module string, arguments ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "go", append([]string{"tool", "-modfile=hack/tools/" + module + "/go.mod"}, arguments...)...)
	command.Dir = root
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(arguments, " "), err, &stdout, &stderr)
	}
	return stdout.Bytes()
}

// readArtifacts reads every file in this process, so that go test knows them as inputs and never
// reuses a result of other ones: it does not see what kustomize reads.
func readArtifacts(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(root, "artifacts"), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		_, err = os.ReadFile(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rendered returns the objects of an overlay.
func rendered(t *testing.T, overlay string) []*unstructured.Unstructured {
	t.Helper()
	return parse(t, build(t, "artifacts/overlays/"+overlay))
}

func parse(t *testing.T, documents []byte) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(documents), 4<<10); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// typed returns the objects of one kind as T.
func typed[T any](t *testing.T, objects []*unstructured.Unstructured, kind string) []*T {
	t.Helper()
	var all []*T
	for _, object := range objects {
		if object.GetKind() != kind {
			continue
		}
		converted := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, converted, true); err != nil {
			t.Fatalf("%s: %v", name(object), err)
		}
		all = append(all, converted)
	}
	return all
}

// one returns the only object of a kind as T.
func one[T any](t *testing.T, objects []*unstructured.Unstructured, kind string) *T {
	t.Helper()
	all := typed[T](t, objects, kind)
	if len(all) != 1 {
		t.Fatalf("there are %d objects of kind %s, want one", len(all), kind)
	}
	return all[0]
}

func name(object *unstructured.Unstructured) string {
	return strings.Join(slices.DeleteFunc([]string{object.GetKind(), object.GetNamespace(), object.GetName()},
		func(part string) bool { return part == "" }), " ")
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
