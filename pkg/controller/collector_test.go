// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/metrics"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// declaredConditions are the types that the API declares for conditions of Applications.
func declaredConditions(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../apis/apps/v1/conditions.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Condition") {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("%s is no literal", spec.Names[0].Name)
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			t.Fatal(err)
		}
		types = append(types, value)
		return true
	})
	return types
}

// Each type of condition that the API declares is counted, and a type that others have written into a status is not.
func TestEveryConditionIsCounted(t *testing.T) {
	declared := declaredConditions(t)
	if len(declared) < 12 {
		t.Fatalf("found %q only", declared)
	}
	application := &v1.Application{}
	for _, kind := range append(declared, "Foreign") {
		application.Status.Conditions = append(application.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse})
	}
	registry := metrics.NewKubeRegistry()
	if err := registry.CustomRegister(newApplications(func(visit func(*v1.Application)) { visit(application) })); err != nil {
		t.Fatal(err)
	}
	page, _ := scrape(t, registry)
	for _, kind := range declared {
		if want := fmt.Sprintf("fairlead_application_conditions{status=%q,type=%q} 1", "False", kind); !strings.Contains(page, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(page, "Foreign") {
		t.Error("a condition of others is counted")
	}
}
