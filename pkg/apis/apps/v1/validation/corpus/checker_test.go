// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package corpus_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation/corpus"
)

// checker asks the layers in the order in which a request meets them. The first two are those of
// the API server, from the CRDs as they are installed.
type checker map[string]resourceChecker

type resourceChecker struct {
	structural *schema.Structural
	schema     apiservervalidation.SchemaValidator
	rules      *cel.Validator
}

func newChecker(t *testing.T) checker {
	t.Helper()
	files, err := filepath.Glob("../../../../../../artifacts/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("find CRDs: %v, %v", files, err)
	}
	c := checker{}
	for _, file := range files {
		content, err := os.ReadFile(file) //nolint:gosec // found by a fixed pattern
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(content, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		c[crd.Spec.Names.Kind] = newResourceChecker(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
	return c
}

func newResourceChecker(t *testing.T, external *apiextensionsv1.JSONSchemaProps) resourceChecker {
	t.Helper()
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(external, &props, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := schema.NewStructural(&props)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := apiservervalidation.NewSchemaValidator(&props)
	if err != nil {
		t.Fatal(err)
	}
	return resourceChecker{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

// refuse returns the layer that refuses the object, and its errors; no layer if none does.
func (c checker) refuse(t *testing.T, object string) (corpus.Layer, []string) {
	t.Helper()
	encoded, err := yaml.YAMLToJSON([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	// Whole numbers become int64, as in the API server.
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	kind, _ := fields["kind"].(string)
	r, found := c[kind]
	if !found {
		t.Fatalf("there is no CRD of kind %q", kind)
	}
	if errs := r.checkSchema(fields); len(errs) > 0 {
		return corpus.Schema, errs
	}
	errs, _ := r.rules.Validate(t.Context(), nil, r.structural, fields, nil, celconfig.RuntimeCELCostBudget)
	if len(errs) > 0 {
		return corpus.Rule, texts(errs)
	}
	if errs := admission(t, kind, fields); len(errs) > 0 {
		return corpus.Admission, texts(errs)
	}
	return "", nil
}

// checkSchema does what the API server does before it evaluates rules: it looks for unknown fields,
// sets defaults, and compares with the schema.
func (r resourceChecker) checkSchema(fields map[string]any) []string {
	var errs []string
	for _, unknown := range pruning.PruneWithOptions(fields, r.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		errs = append(errs, fmt.Sprintf("unknown field %q", unknown))
	}
	if len(errs) > 0 {
		return errs
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(fields, r.structural)
	defaulting.Default(fields, r.structural)
	refused := apiservervalidation.ValidateCustomResource(nil, fields, r.schema)
	refused = append(refused, listtype.ValidateListSetsAndMaps(nil, r.structural, fields)...)
	return texts(refused)
}

// admission is the validation that the webhooks and the sync share.
func admission(t *testing.T, kind string, fields map[string]any) field.ErrorList {
	t.Helper()
	if kind == v1.ApplicationClassKind {
		var class v1.ApplicationClass
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &class); err != nil {
			t.Fatalf("the schema lets through what cannot be decoded: %v", err)
		}
		return validation.ValidateApplicationClass(&class)
	}
	var application v1.Application
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &application); err != nil {
		t.Fatalf("the schema lets through what cannot be decoded: %v", err)
	}
	return validation.ValidateApplication(&application, validation.Options{})
}

// texts are the errors in a fixed order, each on one line of a sensible length.
func texts(errs field.ErrorList) []string {
	all := make([]string, 0, len(errs))
	for _, err := range errs {
		text := strings.ReplaceAll(err.Error(), "\n", " ")
		if runes := []rune(text); len(runes) > 300 {
			text = string(runes[:300])
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
