// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"sigs.k8s.io/yaml"
)

func TestLimit(t *testing.T) {
	const before = `
properties:
  args: {items: {type: string}}
  closer: {maxItems: 3, items: {type: string}}
  labels: {additionalProperties: {type: string}}
  sidecars:
    maxItems: 16
    items:
      type: object
      properties:
        args: {items: {type: string}}
        env: {items: {type: object}}
        limits: {additionalProperties: {type: string}}
        rules: {items: {type: object, properties: {codes: {items: {type: integer}}}}}
        labelSelector: {properties: {matchLabels: {additionalProperties: {type: string}}}}
`
	const after = `
properties:
  args: {maxItems: 256, items: {type: string}}
  closer: {maxItems: 3, items: {type: string}}
  labels: {maxProperties: 64, additionalProperties: {type: string}}
  sidecars:
    maxItems: 16
    items:
      type: object
      properties:
        args: {maxItems: 64, items: {type: string}}
        env: {maxItems: 128, items: {type: object}}
        limits: {maxProperties: 16, additionalProperties: {type: string}}
        rules: {maxItems: 8, items: {type: object, properties: {codes: {maxItems: 32, items: {type: integer}}}}}
        labelSelector: {properties: {matchLabels: {maxProperties: 8, additionalProperties: {type: string}}}}
`
	var got, want node
	for text, into := range map[string]*node{before: &got, after: &want} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	limit("", got, 0)
	encoded, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var read node
	if err := yaml.Unmarshal(encoded, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

const (
	// mostItems is how many items the lists or maps of one field may have together, counted over all lists around it.
	mostItems = 32768
	// mostPeers are those of a NetworkPolicy in one direction: a rule of the list limits them.
	mostPeers = 256
)

// TestEverySizeIsLimited walks the schemas that ship.
func TestEverySizeIsLimited(t *testing.T) {
	for _, file := range []string{"apps.fairlead.dev_applications.yaml", "apps.fairlead.dev_applicationclasses.yaml"} {
		t.Run(file, func(t *testing.T) {
			spec := schemaIn(t, file).Properties["spec"]
			s := sizes{TB: t}
			s.walk("spec", &spec, 1)
			if s.found < 40 {
				t.Errorf("only %d lists and maps: the walk does not reach the schema", s.found)
			}
		})
	}
}

// sizes counts lists and maps.
type sizes struct {
	testing.TB
	found int
}

// walk looks at a field and those below it. Around it are lists and maps with so many items together.
func (s *sizes) walk(path string, schema *apiextensions.JSONSchemaProps, around int64) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		s.walk(path+"."+name, &property, around)
	}
	if schema.Items != nil {
		s.walk(path+"[]", schema.Items.Schema, s.items(path, schema.MaxItems, around))
	}
	if schema.AdditionalProperties != nil {
		s.walk(path+"{}", schema.AdditionalProperties.Schema, s.items(path, schema.MaxProperties, around))
	}
	if unknown := schema.XPreserveUnknownFields; unknown != nil && *unknown {
		s.Errorf("%s may have whatever a user writes", path)
	}
}

// items is how many a list or map may have, those around it counted.
func (s *sizes) items(path string, limit *int64, around int64) int64 {
	s.found++
	if limit == nil {
		s.Errorf("%s has no limit", path)
		return around
	}
	all := *limit * around
	if strings.HasSuffix(path, ".from") || strings.HasSuffix(path, ".to") {
		all = min(all, mostPeers)
	}
	if all > mostItems {
		s.Errorf("%s may have %d items, those around it counted; at most %d are wanted", path, all, mostItems)
	}
	return all
}
