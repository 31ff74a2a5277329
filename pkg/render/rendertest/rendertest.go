// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rendertest generates Applications for property tests of rendering, and of the stages after it.
package rendertest

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/render"
)

// Applications generates Applications in which each field of the spec is sometimes set and sometimes not. They are
// valid: the API server accepts them, and every child that is rendered from them. They have a name, a namespace, a
// UID and a generation, and no status.
func Applications() *rapid.Generator[*v1.Application] {
	return rapid.Custom(func(t *rapid.T) *v1.Application {
		return &v1.Application{
			TypeMeta: metav1.TypeMeta{APIVersion: v1.SchemeGroupVersion.String(), Kind: "Application"},
			ObjectMeta: metav1.ObjectMeta{
				Name: rapid.OneOf(
					rapid.SampledFrom([]string{"web", "api", "web-api"}),
					rapid.StringMatching(`[a-z]([-a-z0-9]{0,61}[a-z0-9])?`),
				).Draw(t, "name"),
				Namespace:   rapid.SampledFrom([]string{"shop", "team-a"}).Draw(t, "namespace"),
				UID:         types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", rapid.Uint32().Draw(t, "uid"))),
				Generation:  rapid.Int64Range(1, 9).Draw(t, "generation"),
				Labels:      foreignLabels(t, "labels"),
				Annotations: annotations(t, "annotations"),
			},
			Spec: Specs().Draw(t, "spec"),
		}
	})
}

// Specs generates the specs of Applications, for example to change one into another. A spec is valid with any name of
// an Application that Specs does not use itself.
func Specs() *rapid.Generator[v1.ApplicationSpec] {
	return rapid.Custom(func(t *rapid.T) v1.ApplicationSpec {
		var spec v1.ApplicationSpec
		container(t, &spec)
		volumes(t, &spec)
		scaling(t, &spec)
		rollout(t, &spec)
		scheduling(t, &spec)
		network(t, &spec)
		if sometimes(t, "serviceAccount") {
			spec.ServiceAccount = &v1.ServiceAccount{AutomountToken: maybe(t, "automountToken", rapid.Bool())}
			if sometimes(t, "foreign serviceAccount") {
				spec.ServiceAccount.Name = "shared"
			} else {
				spec.ServiceAccount.Annotations = annotations(t, "serviceAccount.annotations")
			}
		}
		if sometimes(t, "podMetadata") {
			spec.PodMetadata = &v1.PodMetadata{
				Labels:      labels(t, "podMetadata.labels"),
				Annotations: annotations(t, "podMetadata.annotations"),
			}
		}
		return spec
	})
}

// Facts generates what rendering needs to know beyond the Application.
func Facts() *rapid.Generator[render.Facts] {
	return rapid.Custom(func(t *rapid.T) render.Facts {
		return render.Facts{RouteControllerNamespaces: some(t, "routeControllerNamespaces", "ingress-nginx", "traefik")}
	})
}

// sometimes draws whether an optional part is present.
func sometimes(t *rapid.T, label string) bool {
	return rapid.Bool().Draw(t, label)
}

// maybe draws a value or nil.
func maybe[T any](t *rapid.T, label string, values *rapid.Generator[T]) *T {
	if !sometimes(t, "has "+label) {
		return nil
	}
	value := values.Draw(t, label)
	return &value
}

// oneOf draws one of the values.
func oneOf[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

// some draws a subset of the values, in any order, or nil.
func some[T any](t *rapid.T, label string, values ...T) []T {
	if !sometimes(t, "has "+label) {
		return nil
	}
	return atLeastOne(t, label, values...)
}

// atLeastOne draws a nonempty subset of the values, in any order.
func atLeastOne[T any](t *rapid.T, label string, values ...T) []T {
	shuffled := rapid.Permutation(values).Draw(t, label)
	return shuffled[:rapid.IntRange(1, len(values)).Draw(t, "number of "+label)]
}

// foreignLabels draws labels of the Application itself, of which none is refused: ordinary ones, those of tools, and
// those that belong to Fairlead.
func foreignLabels(t *rapid.T, label string) map[string]string {
	return entries(t, label,
		"team", "tags.example.com/tier", "app.kubernetes.io/name", "app.kubernetes.io/managed-by",
		"app.kubernetes.io/instance", "argocd.argoproj.io/instance", "helm.sh/chart",
		"kustomize.toolkit.fluxcd.io/name", v1.LabelApplication, v1.ReservedPrefix+"other")
}

func labels(t *rapid.T, label string) map[string]string {
	return entries(t, label, "team", "tags.example.com/tier", "app.kubernetes.io/component")
}

func annotations(t *rapid.T, label string) map[string]string {
	return entries(t, label, "note", "example.com/note")
}

func entries(t *rapid.T, label string, keys ...string) map[string]string {
	chosen := some(t, label, keys...)
	if len(chosen) == 0 {
		return nil
	}
	drawn := make(map[string]string, len(chosen))
	for _, key := range chosen {
		drawn[key] = oneOf(t, label+" "+key, "", "a", "b")
	}
	return drawn
}
