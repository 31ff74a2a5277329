// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podsecurity "k8s.io/pod-security-admission/api"
	"sigs.k8s.io/yaml"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// testCase is one spec, as a user writes it, and exactly what is said about it.
type testCase struct {
	name string
	// spec is YAML; image is added where it is missing.
	spec    string
	profile podsecurity.Level
	want    []string
}

// run runs the cases as subtests.
func run(t *testing.T, cases []testCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			app := application(t, tc.spec)
			before := app.DeepCopy()
			errs := ValidateApplication(app, Options{SecurityProfile: tc.profile, ForeignServiceAccounts: true})
			if diff := cmp.Diff(tc.want, messages(errs)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, app); diff != "" {
				t.Errorf("the Application was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// application is named web and has the spec.
func application(t testing.TB, spec string) *v1.Application {
	t.Helper()
	app := &v1.Application{}
	if err := yaml.UnmarshalStrict([]byte(spec), &app.Spec); err != nil {
		t.Fatalf("decode spec: %v", err)
	}
	app.Name, app.Namespace = "web", "shop"
	if app.Spec.Image == "" {
		app.Spec.Image = "ghcr.io/acme/web:1.2"
	}
	return app
}

func messages(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}
