// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func TestBoundedNumberOfErrors(t *testing.T) {
	app := application(t, ``)
	for range 1000 {
		app.Spec.Tolerations = append(app.Spec.Tolerations, corev1.Toleration{})
	}
	errs := ValidateApplication(app, Options{})
	if len(errs) != maxErrors+1 {
		t.Fatalf("%d errors, want %d", len(errs), maxErrors+1)
	}
	// 1000 tolerations and one complaint about their number.
	if got, want := errs[maxErrors].Error(), "spec: Invalid value: and 937 more errors"; got != want {
		t.Errorf("last error %q, want %q", got, want)
	}
}

func TestBoundedLengthOfErrors(t *testing.T) {
	long := strings.Repeat("é", 100_000)
	app := application(t, ``)
	app.Spec.Image = long
	app.Spec.Config = &v1.Config{MountPath: long, Data: map[string]string{long: ""}}
	app.Spec.NodeSelector = map[string]string{long: long}
	app.Spec.Env = []corev1.EnvVar{{Name: long}, {Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: long}}}}
	app.Spec.Sidecars = []corev1.Container{{Name: long, SecurityContext: &corev1.SecurityContext{Privileged: new(bool)}}}
	*app.Spec.Sidecars[0].SecurityContext.Privileged = true
	errs := ValidateApplication(app, Options{})
	if len(errs) == 0 {
		t.Fatal("valid")
	}
	for _, err := range errs {
		message := err.Error()
		if most := maxPath + 8*maxValue + maxDetail + 100; len(message) > most {
			t.Errorf("%d bytes, want at most %d: %s", len(message), most, message[:200])
		}
		if !utf8.ValidString(message) {
			t.Errorf("cut inside of a character: %q", message)
		}
	}
}

func TestTruncate(t *testing.T) {
	for _, tc := range []struct {
		s     string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "lo…"},
		{"ééé", 5, "é…"},
		{"\xff\xfe\xfd\xfc", 3, "…"},
	} {
		if got := truncate(tc.s, tc.limit); got != tc.want {
			t.Errorf("truncate(%q, %d) = %q, want %q", tc.s, tc.limit, got, tc.want)
		}
	}
}

func TestBoundedKeepsNumbers(t *testing.T) {
	errs := bounded(field.ErrorList{field.Invalid(field.NewPath("a"), int32(7), "b")})
	if got, want := fmt.Sprint(errs[0]), "a: Invalid value: 7: b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if bounded(nil) != nil {
		t.Error("no errors are not nil")
	}
}

// No user reads a regular expression of Kubernetes' validation.
func TestErrorsHaveNoPattern(t *testing.T) {
	messages := slices.Concat(validation.IsDNS1123Subdomain("A"), validation.IsDNS1123Label("A"), validation.IsDNS1035Label("A"),
		validation.IsQualifiedName("a b"), validation.IsQualifiedName("A/b"), validation.IsConfigMapKey("a/b"), validation.IsValidLabelValue("a/b"))
	var errs field.ErrorList
	for _, message := range messages {
		errs = append(errs, field.Invalid(field.NewPath("a"), "b", message))
	}
	for _, err := range bounded(errs) {
		if strings.Contains(err.Detail, "regex") || strings.Count(err.Detail, "(") != strings.Count(err.Detail, ")") {
			t.Errorf("%q", err.Detail)
		}
	}
	const want = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
		"alphanumeric character (e.g. 'my-name' or '123-abc')"
	if got := withoutPattern(validation.IsDNS1123Label("A")[0]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
