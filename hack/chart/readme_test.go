// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

const (
	readme     = directory + "/README.md"
	tableBegin = "<!-- values: make generate writes this table -->\n"
	tableEnd   = "<!-- end of values -->\n"
)

// TestValuesTable compares the table in the README with the comments and defaults of values.yaml, or writes it. It also
// holds values.yaml and its schema together: each value has a comment and a schema, and each schema a default.
func TestValuesTable(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal(readFile(t, directory+"/values.yaml"), &document); err != nil {
		t.Fatal(err)
	}
	var schema property
	if err := json.Unmarshal(readFile(t, directory+"/values.schema.json"), &schema); err != nil {
		t.Fatal(err)
	}
	delete(schema.Properties, "global") // Helm's own.

	var table strings.Builder
	table.WriteString("| Value | Default | |\n|---|---|---|\n")
	writeRows(t, &table, "", document.Content[0], schema)

	text := string(readFile(t, readme))
	before, rest, found := strings.Cut(text, tableBegin)
	_, after, foundEnd := strings.Cut(rest, tableEnd)
	if !found || !foundEnd {
		t.Fatalf("%s has no place for the table", readme)
	}
	compareOrUpdate(t, readme, []byte(before+tableBegin+table.String()+tableEnd+after), func(want, got string) string { return cmp.Diff(want, got) })
}

// property is the little of a schema that the table needs.
type property struct {
	Ref        string              `json:"$ref"`
	Properties map[string]property `json:"properties"`
}

// writeRows writes a row for each value below a mapping of values.yaml.
func writeRows(t *testing.T, table *strings.Builder, prefix string, mapping *yaml.Node, schema property) {
	t.Helper()
	if schema.Ref == "#/$defs/switch" {
		schema.Properties = map[string]property{"enabled": {}}
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		path := prefix + key.Value
		known, found := schema.Properties[key.Value]
		if !found {
			t.Errorf("values.schema.json has no %s", path)
		}
		delete(schema.Properties, key.Value)
		if len(known.Properties) > 0 || known.Ref == "#/$defs/switch" {
			writeRows(t, table, path+".", value, known)
			continue
		}
		comment := strings.ReplaceAll(strings.ReplaceAll(key.HeadComment, "\n# ", " "), "# ", "")
		if comment == "" {
			t.Errorf("values.yaml has no comment on %s", path)
		}
		value.Style |= yaml.FlowStyle
		var plain any
		if err := value.Decode(&plain); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(table, "| `%s` | `%s` | %s |\n", path, asJSON(plain), comment)
	}
	for name := range schema.Properties {
		t.Errorf("values.yaml has no %s", prefix+name)
	}
}
