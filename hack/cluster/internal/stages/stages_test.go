// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package stages

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// TestConfigIsYAML reads what kwok will read: the templates could produce something that is no YAML. What the Stages do
// to a pod, the tests of pkg/testing/controlplane show.
func TestConfigIsYAML(t *testing.T) {
	config, err := Config()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(config), 4<<10); ; {
		var stage unstructured.Unstructured
		err := decoder.Decode(&stage)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("after the Stages %v: %v", names, err)
		}
		if stage.GetKind() != "Stage" || names[stage.GetName()] {
			t.Errorf("got a %s called %q, want a Stage with a name of its own", stage.GetKind(), stage.GetName())
		}
		names[stage.GetName()] = true
		if expressions, _, _ := unstructured.NestedSlice(stage.Object, "spec", "selector", "matchExpressions"); len(expressions) == 0 {
			t.Errorf("Stage %s selects every object", stage.GetName())
		}
		if steps, _, _ := unstructured.NestedSlice(stage.Object, "spec", "steps"); len(steps) == 0 {
			t.Errorf("Stage %s does nothing", stage.GetName())
		}
	}
	for _, name := range []string{"node-ready", "pod-ready", "pod-delete", "pod-start", "pod-crash-loop"} {
		if !names[name] {
			t.Errorf("there is no Stage %s, only %v", name, names)
		}
	}
}
