// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

func routes(n, hostnames, paths int) []v1.Route {
	list := make([]v1.Route, n)
	for i := range list {
		list[i].Name = fmt.Sprintf("route-%d", i)
		for h := range hostnames {
			list[i].Hostnames = append(list[i].Hostnames, fmt.Sprintf("h%d-%d.example.com", i, h))
		}
		for p := range paths {
			list[i].Paths = append(list[i].Paths, v1.RoutePath{Path: fmt.Sprintf("/p%d", p)})
		}
	}
	return list
}

// TestExcess holds where the limits are: each case is at its limit, and one more is too much.
func TestExcess(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(app *v1.Application, more int)
		path string
	}{
		{"paths", func(app *v1.Application, more int) {
			app.Spec.Routes = append(routes(15, 32, 1), routes(1, 32, 1+more)...)
		}, "spec.routes"},
		{"hostnames without paths", func(app *v1.Application, more int) {
			app.Spec.Routes = append(routes(15, 32, 0), routes(1, 32+more, 0)...)
		}, "spec.routes"},
		{"wildcards", func(app *v1.Application, more int) {
			app.Spec.Routes = routes(1, v1.MaxWildcards+more, 0)
			for i := range app.Spec.Routes[0].Hostnames {
				app.Spec.Routes[0].Hostnames[i] = fmt.Sprintf("*.w%d.example.com", i)
			}
		}, "spec.routes"},
		{"labels", func(app *v1.Application, more int) {
			app.Labels = map[string]string{}
			for i := range v1.MaxLabels + more {
				app.Labels[fmt.Sprint(i)] = "x"
			}
		}, "metadata.labels"},
		{"config.data", func(app *v1.Application, more int) {
			app.Spec.Config = &v1.Config{Data: map[string]string{"a": strings.Repeat("x", v1.MaxConfigBytes-1+more)}}
		}, "spec.config.data"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			app := &v1.Application{}
			tc.make(app, 0)
			if excess := app.FindExcess(); excess != nil {
				t.Errorf("at the limit: %v", excess)
			}
			tc.make(app, 1)
			excess := app.FindExcess()
			if excess == nil || strings.Join(excess.Path, ".") != tc.path {
				t.Fatalf("above the limit: %v, want one about %s", excess, tc.path)
			}
		})
	}
}

// TestExcessCountsMemory has lists of which a few bytes of JSON take many in memory: none of them may
// get far above the limit.
func TestExcessCountsMemory(t *testing.T) {
	const items = 600_000 / 3 // "{}," of an object that can be stored
	for name, spec := range map[string]v1.ApplicationSpec{
		"strings":      {Command: make([]string, items)},
		"node terms":   {Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: make([]corev1.NodeSelectorTerm, items)}}}},
		"projections":  {Mounts: []v1.Mount{{Projected: &corev1.ProjectedVolumeSource{Sources: make([]corev1.VolumeProjection, items)}}}},
		"sidecar env":  {Sidecars: []corev1.Container{{Env: make([]corev1.EnvVar, items)}}},
		"annotations":  {PodMetadata: &v1.PodMetadata{Annotations: map[string]string{"a": strings.Repeat("x", v1.MaxSpecBytes)}}},
		"claims":       {Sidecars: []corev1.Container{{Resources: corev1.ResourceRequirements{Claims: make([]corev1.ResourceClaim, items)}}}},
		"tolerations":  {Tolerations: make([]corev1.Toleration, items)},
		"peers":        {NetworkPolicy: &v1.NetworkPolicy{Ingress: []v1.NetworkPolicyIngressRule{{From: make([]v1.NetworkPolicyPeer, items)}}}},
		"spread match": {TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{LabelSelector: &metav1.LabelSelector{MatchExpressions: make([]metav1.LabelSelectorRequirement, items)}}}},
	} {
		app := &v1.Application{Spec: spec}
		if excess := app.FindExcess(); excess == nil || !slices.Equal(excess.Path, []string{"spec"}) {
			t.Errorf("%s: %v, want it refused as too large", name, excess)
		}
	}
}

// TestOrdinaryApplicationsAreNotExcessive has more of everything than people write.
func TestOrdinaryApplicationsAreNotExcessive(t *testing.T) {
	app := &v1.Application{Spec: v1.ApplicationSpec{Routes: routes(16, 4, 8)}}
	env := make([]corev1.EnvVar, 256)
	for i := range env {
		env[i] = corev1.EnvVar{Name: fmt.Sprintf("SOME_SETTING_OF_THE_APPLICATION_%d", i), Value: strings.Repeat("v", 40)}
	}
	app.Spec.Env = env
	for i := range 8 {
		app.Spec.Sidecars = append(app.Spec.Sidecars, corev1.Container{Name: fmt.Sprintf("sidecar-%d", i), Env: slices.Clone(env[:64])})
	}
	app.Spec.Config = &v1.Config{Data: map[string]string{"application.yaml": strings.Repeat("x", 200<<10)}}
	if excess := app.FindExcess(); excess != nil {
		t.Error(excess)
	}
}

// TestWithoutExcess: what is kept claims nothing, is small, is still known for what it is, and stays the same.
func TestWithoutExcess(t *testing.T) {
	app := &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "uid", ResourceVersion: "7", Generation: 3, Finalizers: []string{v1.FinalizerOrphan},
			Annotations: map[string]string{"a": "b"}, Labels: map[string]string{"c": "d"}},
		Spec: v1.ApplicationSpec{
			ClassName: "small", Image: "web:1", DeletionPolicy: v1.DeletionOrphan, ReconcilePolicy: v1.ReconcileObserve, Routes: routes(16, 32, 32),
		},
		Status: v1.ApplicationStatus{ObservedGeneration: 2},
	}
	if keys := app.RouteKeys(); keys != nil {
		t.Errorf("asks for %d host names and paths, want none", len(keys))
	}
	excess := app.FindExcess()
	if excess == nil {
		t.Fatal("16,384 paths are not too many")
	}
	want := &v1.Application{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "uid", ResourceVersion: "7", Generation: 3, Finalizers: []string{v1.FinalizerOrphan},
			Annotations: map[string]string{v1.AnnotationExcess: excess.Message}},
		Spec:   v1.ApplicationSpec{ClassName: "small", DeletionPolicy: v1.DeletionOrphan, ReconcilePolicy: v1.ReconcileObserve},
		Status: v1.ApplicationStatus{ObservedGeneration: 2},
	}
	kept := app.WithoutExcess(excess)
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, kept.WithoutExcess(kept.FindExcess())); diff != "" {
		t.Errorf("kept again (-want +got):\n%s", diff)
	}
}

// TestWriteCost holds what counts as large: text, elements of lists, and paths under each hostname.
func TestWriteCost(t *testing.T) {
	variables := func(n int) []corev1.EnvVar { return make([]corev1.EnvVar, n) }
	for _, tc := range []struct {
		name     string
		app      v1.Application
		min, max int
	}{
		{"empty", v1.Application{}, 0, 1 << 10},
		{"ordinary", v1.Application{Spec: v1.ApplicationSpec{
			Env: variables(20), Routes: routes(3, 2, 4), Sidecars: []corev1.Container{{Env: variables(10)}},
		}}, 8 << 10, 20 << 10},
		{"config", v1.Application{Spec: v1.ApplicationSpec{Config: &v1.Config{Data: map[string]string{"a": strings.Repeat("x", 99_999)}}}}, 100_000, 101_000},
		{"variables", v1.Application{Spec: v1.ApplicationSpec{Sidecars: []corev1.Container{{Env: variables(512)}}}}, 512 * 128, 512 * 256},
		{"paths of hostnames", v1.Application{Spec: v1.ApplicationSpec{Routes: routes(1, 32, 16)}}, 512 * 128, 512 * 256},
		{"too large", *(&v1.Application{}).WithoutExcess(&v1.Excess{Message: "too large"}), v1.MaxConfigBytes + v1.MaxSpecBytes, v1.MaxConfigBytes + v1.MaxSpecBytes},
		{"largest", v1.Application{Spec: v1.ApplicationSpec{Command: make([]string, 1_000_000)}}, v1.MaxConfigBytes + v1.MaxSpecBytes, v1.MaxConfigBytes + v1.MaxSpecBytes},
	} {
		if got := tc.app.WriteCost(); got < tc.min || got > tc.max {
			t.Errorf("%s: costs %d, want %d to %d", tc.name, got, tc.min, tc.max)
		}
	}
}
