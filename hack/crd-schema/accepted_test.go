// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// nasty are JSON values that a user may write in place of any other.
var nasty = []string{
	`null`, `true`, `false`, `{}`, `[]`, `[null]`, `{"a":null}`, `[[]]`, `[{}]`, `{"a":{}}`, `{"a":"1e1.5"}`, `{"a":1e30}`, `{"a":1.5}`,
	`0`, `-0`, `-0.0`, `1`, `-1`, `1.0`, `1e3`, `1.5`, `1e-3`, `5e-324`, `1e18`, `1e19`, `9.3e18`, `1e30`, `-1e30`, `1.7e308`,
	`2147483647`, `2147483648`, `2147483647.0`, `2147483648.0`, `-2147483648`, `-2147483649`, `3000000000`, `4294967296`,
	`9223372036854774784`, `9223372036854775000`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`,
	`18446744073709551616`, `123456789012345678901234567890`,
	`""`, `" "`, `"1"`, `" 1"`, `"1 "`, `"1\n"`, `"+1"`, `"-1"`, `"1.5"`, `"1."`, `".5"`, `"."`, `"+"`, `"1e5"`, `"1E5"`, `"1E"`, `"1e"`, `"1e1.5"`,
	`"1e.5"`, `"1e+5"`, `"1e999"`, `"1e-999999999"`, `"1e99999999999999999999"`, `"1Ki"`, `"1ki"`, `"1K"`, `"1m"`, `"1mm"`, `"1Kim"`, `"0x1"`, `"1_000"`,
	`"１"`, `"²"`, `"\u0000"`, `"\ud800"`, `"NaN"`, `"Inf"`, `"null"`, `"true"`, `"50%"`, `"99999999999%"`, `"-5%"`, `"` + strings.Repeat("9", 5000) + `"`,
	`"10s"`, `"1ms"`, `"99999999999h"`, `"aGk="`, `"aGk"`, `"!"`,
	`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.5+02:00"`, `"2026-02-31T00:00:00Z"`, `"2026-01-02t03:04:05z"`, `"2026-01-02 03:04:05Z"`, `"2026-01-02"`,
	`"2026-01-02T24:00:00Z"`, `"2026-01-02T23:59:60Z"`, `"2026-01-02T03:04:05"`, `"2026-01-02T03:04:05+99:99"`, `"0000-01-01T00:00:00Z"`, `"99999-01-01T00:00:00Z"`,
}

// TestAcceptedDecodes puts every nasty value in the place of every field. One that the field's schema accepts must decode.
func TestAcceptedDecodes(t *testing.T) {
	for file, kind := range map[string]func() any{
		"apps.fairlead.dev_applications.yaml":       func() any { return &v1.Application{} },
		"apps.fairlead.dev_applicationclasses.yaml": func() any { return &v1.ApplicationClass{} },
	} {
		t.Run(file, func(t *testing.T) {
			a := accepts{TB: t, kind: kind}
			a.walk("", schemaIn(t, file), func(value any) any { return value })
			if a.fields < 150 || a.accepted < 5*a.fields {
				t.Errorf("%d values are accepted in %d fields: the walk does not reach the schema", a.accepted, a.fields)
			}
		})
	}
}

// accepts counts what the fields of a kind accept.
type accepts struct {
	testing.TB
	kind             func() any
	fields, accepted int
}

// walk tries a field and those below it. document makes of the field's value the whole object.
func (a *accepts) walk(path string, schema *apiextensions.JSONSchemaProps, document func(value any) any) {
	if path == ".metadata" {
		return // The API server decodes it itself.
	}
	a.try(path, schema, document)
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		a.walk(path+"."+name, &property, func(value any) any { return document(map[string]any{name: value}) })
	}
	if schema.Items != nil {
		a.walk(path+"[]", schema.Items.Schema, func(value any) any { return document([]any{value}) })
	}
	if schema.AdditionalProperties != nil {
		a.walk(path+"{}", schema.AdditionalProperties.Schema, func(value any) any { return document(map[string]any{"key": value}) })
	}
}

func (a *accepts) try(path string, schema *apiextensions.JSONSchemaProps, document func(value any) any) {
	a.fields++
	validator, _, err := validation.NewSchemaValidator(schema)
	if err != nil {
		a.Fatalf("%s: %v", path, err)
	}
	rules := rulesOf(a, path, schema)
	for _, text := range nasty {
		var value any
		if err := utiljson.Unmarshal([]byte(text), &value); err != nil {
			continue // The API server cannot read it.
		}
		if len(validation.ValidateCustomResource(nil, value, validator)) > 0 {
			continue
		}
		if errs, _ := rules.Validate(a.Context(), nil, rules.schema, value, nil, math.MaxInt64); len(errs) > 0 {
			continue
		}
		a.accepted++
		stored, err := json.Marshal(document(value))
		if err == nil {
			err = utiljson.Unmarshal(stored, a.kind())
		}
		if err != nil {
			a.Errorf("%s accepts %.60s, which does not decode: %v", path, text, err)
		}
	}
}

// quantityRules are the rules of a quantity, or of a map of quantities, as the API server runs them. Other fields of a
// spec have rules too, and decode without them.
type quantityRules struct {
	*cel.Validator
	schema *structural.Structural
}

func rulesOf(t testing.TB, path string, schema *apiextensions.JSONSchemaProps) quantityRules {
	isMap := schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil
	isQuantity := schema.XIntOrString || isMap && schema.AdditionalProperties.Schema.XIntOrString
	if !isQuantity {
		return quantityRules{}
	}
	s, err := structural.NewStructural(schema)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return quantityRules{cel.NewValidator(s, false, celconfig.PerCallLimit), s}
}

// schemaIn reads the schema of a definition as it ships.
func schemaIn(t *testing.T, file string) *apiextensions.JSONSchemaProps {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "artifacts", "crds", file))
	if err != nil {
		t.Fatal(err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &definition); err != nil {
		t.Fatal(err)
	}
	var schema apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(definition.Spec.Versions[0].Schema.OpenAPIV3Schema, &schema, nil); err != nil {
		t.Fatal(err)
	}
	return &schema
}
