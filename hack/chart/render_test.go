// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	root      = "../.."
	directory = root + "/artifacts/chart/fairlead"

	operatorNamespace = "fairlead-system"
)

func load(t *testing.T) *chartv2.Chart {
	t.Helper()
	chart, err := loader.Load(directory)
	if err != nil {
		t.Fatal(err)
	}
	return chart
}

// renderFiles returns what each template renders, as helm template does: it checks the values, and calls no cluster.
func renderFiles(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	chart := load(t)
	release := common.ReleaseOptions{Name: "fairlead", Namespace: operatorNamespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(chart, values, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.RenderWithContext(t.Context(), chart, all)
}

// render returns the objects of the chart, without its CRDs and its tests.
func render(t *testing.T, values map[string]any) []*unstructured.Unstructured {
	t.Helper()
	files, err := renderFiles(t, values)
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if filepath.Ext(file) != ".yaml" || strings.Contains(file, "/tests/") || strings.HasSuffix(file, "/crds.yaml") {
			continue
		}
		objects = append(objects, parse(t, []byte(files[file]))...)
	}
	return objects
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

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// compareOrUpdate compares a file that is made here, or writes it.
func compareOrUpdate(t *testing.T, file string, want []byte, diff func(want, got string) string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.FromSlash(file), want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if difference := diff(string(want), string(readFile(t, file))); difference != "" {
		t.Errorf("%s is out of date: run make generate (-want +got):\n%s", file, difference)
	}
}
