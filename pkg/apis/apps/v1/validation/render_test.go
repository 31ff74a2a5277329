// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"encoding/json"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/render"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// What is validated must be what is rendered. Validation cannot import the renderer, which is
// above it, so that it repeats the names of volumes and the defaults of security; these tests
// hold the two together.

// rendered is the Deployment of the Application.
func rendered(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, app *v1.Application) *appsv1.Deployment {
	t.Helper()
	children, err := render.Children(app, render.Facts{})
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	deployment := &appsv1.Deployment{}
	for _, desired := range children {
		if desired.Kind == child.Deployment {
			encoded, err := rendertest.Object(t, desired).MarshalJSON()
			if err != nil {
				t.Fatalf("encode: %v", err)
			}
			if err := json.Unmarshal(encoded, deployment); err != nil {
				t.Fatalf("decode: %v", err)
			}
		}
	}
	return deployment
}

func TestVolumeNamesAreTheRenderers(t *testing.T) {
	for _, base := range bases() {
		app := &v1.Application{Spec: base}
		app.Name, app.Namespace = "web", "shop"
		var want []string
		for _, volume := range rendered(t, app).Spec.Template.Spec.Volumes {
			want = append(want, volume.Name)
		}
		got, _ := volumeNames(&app.Spec)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("volumes %q, want %q", got, want)
		}
	}
}

// Whatever the spec, Pod Security must say of the rendered pod what it says of the one that is
// put together here.
func TestSecurityDefaultsAreTheRenderers(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	fixedseed.Check(t, func(t *rapid.T) {
		app := drawMutated(t)
		template := rendered(t, app).Spec.Template
		metadata := &metav1.ObjectMeta{Annotations: template.Annotations}
		whole := wholePod(newInput(app, Options{}))
		for _, level := range []podsecurity.Level{podsecurity.LevelBaseline, podsecurity.LevelRestricted} {
			forbidden := func(pod corev1.PodSpec) string {
				results := evaluator.EvaluatePod(podsecurity.LevelVersion{Level: level, Version: podsecurity.LatestVersion()}, metadata, &pod)
				aggregated := policy.AggregateCheckResults(results)
				return aggregated.ForbiddenDetail()
			}
			if detail := forbidden(template.Spec); detail != "" && len(ValidateApplication(app, Options{SecurityProfile: level})) == 0 {
				t.Errorf("level %s: valid, but of the rendered pod: %s", level, detail)
			}
			// A mount without a source is invalid, and makes a volume of no known kind.
			template.Spec.Volumes = nil
			if got, want := forbidden(whole), forbidden(template.Spec); got != want {
				t.Errorf("level %s: %q, but of the rendered pod %q", level, got, want)
			}
		}
	})
}
