// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const crdTemplate = "fairlead/templates/crds.yaml"

// TestCRDsAreKept: the chart has the CRDs of artifacts/crds, and Helm leaves each of them at an uninstall.
func TestCRDsAreKept(t *testing.T) {
	files, err := renderFiles(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []map[string]any
	for _, crd := range parse(t, []byte(files[crdTemplate])) {
		annotations := crd.GetAnnotations()
		if annotations["helm.sh/resource-policy"] != "keep" {
			t.Errorf("%s would be deleted at an uninstall, and every object of it", crd.GetName())
		}
		delete(annotations, "helm.sh/resource-policy")
		crd.SetAnnotations(annotations)
		got = append(got, crd.Object)
	}
	sources, err := filepath.Glob(root + "/artifacts/crds/*.yaml")
	if err != nil || len(sources) == 0 {
		t.Fatalf("found %d CRDs: %v", len(sources), err)
	}
	for _, source := range sources {
		for _, crd := range parse(t, readFile(t, source)) {
			want = append(want, crd.Object)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the CRDs of the chart differ (-artifacts +chart):\n%s", diff)
	}
}

func TestCRDsCanBeLeftOut(t *testing.T) {
	files, err := renderFiles(t, map[string]any{"crds": map[string]any{"install": false}})
	if err != nil {
		t.Fatal(err)
	}
	if crds := parse(t, []byte(files[crdTemplate])); len(crds) != 0 {
		t.Errorf("the chart has %s", names(crds))
	}
}

func names(objects []*unstructured.Unstructured) []string {
	all := make([]string, len(objects))
	for i, object := range objects {
		all[i] = object.GetName()
	}
	return all
}
