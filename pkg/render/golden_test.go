// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package render_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
)

var update = flag.Bool("update", false, "write what is rendered to the golden files instead of comparing with them")

const goldenDirectory = "testdata/golden"

// The golden files have all children of a corpus of Applications. If a pod template changes in one of them, the next
// version of the operator replaces every such pod: do that knowingly or not at all.
//
// After an intended change: go test ./pkg/render -run TestGolden -update
func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join(goldenDirectory, "*.in.yaml"))
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no Applications in %s: %v", goldenDirectory, err)
	}
	outputs, err := filepath.Glob(filepath.Join(goldenDirectory, "*.out.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	stale := map[string]bool{}
	for _, output := range outputs {
		stale[output] = true
	}
	for _, input := range inputs {
		output := strings.TrimSuffix(input, ".in.yaml") + ".out.yaml"
		delete(stale, output)
		t.Run(strings.TrimSuffix(filepath.Base(input), ".in.yaml"), func(t *testing.T) {
			got := document(t, renderedWith(t, goldenApplication(t, input), render.Facts{
				RouteControllerNamespaces: []string{"ingress-nginx"},
				MonitoringNamespaces:      []string{"monitoring"},
			}))
			if *update {
				if err := os.WriteFile(output, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(output)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", output, diff)
			}
		})
	}
	for output := range stale {
		t.Errorf("%s belongs to no Application", output)
	}
}

func goldenApplication(t testing.TB, file string) *v1.Application {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	app := &v1.Application{}
	if err := yaml.UnmarshalStrict(content, app); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	liberal := &v1.ApplicationClass{Spec: v1.ApplicationClassSpec{Limits: &v1.ApplicationLimits{
		AllowedParentKinds: []string{"Service"}, AllowForeignServiceAccounts: new(true),
	}}}
	if errs := validation.ValidateApplication(app, validation.Options{Class: liberal, ForeignServiceAccounts: true}); len(errs) > 0 {
		t.Fatalf("%s is not valid: %v", file, errs.ToAggregate())
	}
	app.UID = "11111111-2222-3333-4444-555555555555"
	return app
}

// document writes the children one after another.
func document(t *testing.T, children []child.Desired) []byte {
	t.Helper()
	var document bytes.Buffer
	for _, desired := range children {
		encoded, err := yaml.Marshal(rendertest.Object(t, desired).Object)
		if err != nil {
			t.Fatalf("encode %s: %v", desired.Ref, err)
		}
		document.WriteString("---\n")
		document.Write(encoded)
	}
	return document.Bytes()
}
