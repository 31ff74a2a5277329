// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package corpus_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation/corpus"
	"fairlead.dev/fairlead/pkg/crdschema"
)

// checker asks the layers in the order in which a request meets them. The first two are those of
// the API server, from the CRDs as they are installed.
type checker map[string]*crdschema.Resource

func newChecker(t *testing.T) checker {
	t.Helper()
	resources, err := crdschema.Load("../../../../../../artifacts/crds")
	if err != nil {
		t.Fatal(err)
	}
	return resources
}

// refuse returns the layer that refuses the object, and its errors; no layer if none does.
func (c checker) refuse(t *testing.T, object string) (corpus.Layer, []string) {
	t.Helper()
	fields, err := crdschema.Decode([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := fields["kind"].(string)
	r, found := c[kind]
	if !found {
		t.Fatalf("there is no CRD of kind %q", kind)
	}
	if errs := checkSchema(r, fields); len(errs) > 0 {
		return corpus.Schema, errs
	}
	if errs := r.CheckRules(t.Context(), fields); len(errs) > 0 {
		return corpus.Rule, texts(errs)
	}
	if errs := admission(t, kind, fields); len(errs) > 0 {
		return corpus.Admission, texts(errs)
	}
	return "", nil
}

// checkSchema does what the API server does before it evaluates rules: it looks for unknown fields,
// sets defaults, and compares with the schema.
func checkSchema(r *crdschema.Resource, fields map[string]any) []string {
	var errs []string
	for _, unknown := range r.Unknown(fields) {
		errs = append(errs, fmt.Sprintf("unknown field %q", unknown))
	}
	if len(errs) > 0 {
		return errs
	}
	return texts(r.CheckSchema(fields))
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
	return validation.ValidateApplication(&application, validation.Options{ForeignServiceAccounts: true})
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
