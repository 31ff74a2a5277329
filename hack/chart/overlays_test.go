// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestSameObjectsAsOverlays: a platform team that goes from kustomize to Helm, or back, changes nothing.
func TestSameObjectsAsOverlays(t *testing.T) {
	for overlay, values := range map[string]map[string]any{
		"default": {},
		"platform": {
			"certificates":  map[string]any{"issuer": "cert-manager"},
			"monitoring":    map[string]any{"enabled": true},
			"secretsAccess": true,
		},
		"namespaced": {"watchNamespaces": []any{"default"}},
	} {
		t.Run(overlay, func(t *testing.T) {
			t.Parallel()
			want, got := byName(kustomize(t, overlay)), byName(render(t, values))
			// Helm creates the namespace before the chart, with --create-namespace.
			delete(want, "Namespace  "+operatorNamespace)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the chart differs from the overlay (-overlay +chart):\n%s", diff)
			}
		})
	}
}

// kustomize returns the objects of an overlay.
func kustomize(t *testing.T, overlay string) []*unstructured.Unstructured {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), "go", "tool", "-modfile=hack/tools/kustomize/go.mod", "kustomize", "build", "artifacts/overlays/"+overlay)
	command.Dir, command.Stdout, command.Stderr = root, &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("render %s: %v\n%s", overlay, err, &stderr)
	}
	return parse(t, stdout.Bytes())
}

// byName returns the objects by kind, namespace and name, without what is meant to differ: the chart's own labels, and the
// order of the rules of a role, which has no meaning.
func byName(objects []*unstructured.Unstructured) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, object := range objects {
		labels := object.GetLabels()
		delete(labels, "helm.sh/chart")
		delete(labels, "app.kubernetes.io/version")
		object.SetLabels(labels)
		if rules, found, _ := unstructured.NestedSlice(object.Object, "rules"); found {
			slices.SortFunc(rules, func(a, b any) int { return strings.Compare(asJSON(a), asJSON(b)) })
			object.Object["rules"] = rules
		}
		all[object.GetKind()+" "+object.GetNamespace()+" "+object.GetName()] = object.Object
	}
	return all
}

func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // It was decoded from JSON.
	}
	return string(text)
}
