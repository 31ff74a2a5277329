// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package costly has the most expensive specs that the API server stores: each is at a limit of the schema in a way of its
// own, and costs a controller and the API server as much as one can.
package costly

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// Image is that of each spec.
const Image = "registry.example.com/web:1"

// Specs returns each spec by what is expensive in it. The host names are below the domain, so that no two Applications ask
// for the same ones.
func Specs(domain string) map[string]v1.ApplicationSpec {
	specs := map[string]v1.ApplicationSpec{
		"config":   {Config: &v1.Config{MountPath: "/etc/web", Data: map[string]string{"a": strings.Repeat("x", v1.MaxConfigBytes-1)}}},
		"routes":   {Ports: []v1.ApplicationPort{{Name: "http", ContainerPort: 8080}}, Routes: []v1.Route{route(domain)}},
		"env":      {Sidecars: sidecars()},
		"affinity": {Affinity: affinity()},
	}
	for name, spec := range specs {
		spec.Image = Image
		specs[name] = spec
	}
	return specs
}

// route has as many and as long paths as there may be. The Ingress has all of them under each hostname, 512 KiB.
func route(domain string) v1.Route {
	const hostnames = 32
	route := v1.Route{Name: "all"}
	for host := range hostnames {
		route.Hostnames = append(route.Hostnames, fmt.Sprintf("h%d.%s", host, domain))
	}
	for path := range v1.MaxRoutePaths / hostnames {
		route.Paths = append(route.Paths, v1.RoutePath{Path: fmt.Sprintf("/%d/%s", path, strings.Repeat("p", 900))})
	}
	return route
}

// sidecars have as many environment variables as all containers may have together.
func sidecars() []corev1.Container {
	all := make([]corev1.Container, 2)
	for i := range all {
		all[i] = corev1.Container{Name: fmt.Sprintf("sidecar-%d", i), Image: "registry.example.com/proxy:1", Env: make([]corev1.EnvVar, 128)}
		for j := range all[i].Env {
			all[i].Env[j] = corev1.EnvVar{Name: fmt.Sprintf("VARIABLE_%d", j), Value: "x"}
		}
	}
	return all
}

// affinity has as many terms, expressions and words as there may be.
func affinity() *corev1.Affinity {
	const terms, expressions = 4, 4
	words := slices.Repeat([]string{"x"}, 32)
	selector := &metav1.LabelSelector{MatchExpressions: slices.Repeat([]metav1.LabelSelectorRequirement{{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: words[:16]}}, expressions)}
	pods := corev1.PodAffinityTerm{LabelSelector: selector, NamespaceSelector: selector, TopologyKey: "a"}
	required := slices.Repeat([]corev1.PodAffinityTerm{pods}, terms)
	preferred := slices.Repeat([]corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: pods}}, terms)
	nodes := corev1.NodeSelectorTerm{MatchExpressions: slices.Repeat([]corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpIn, Values: words}}, expressions)}
	return &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  &corev1.NodeSelector{NodeSelectorTerms: slices.Repeat([]corev1.NodeSelectorTerm{nodes}, 2*terms)},
			PreferredDuringSchedulingIgnoredDuringExecution: slices.Repeat([]corev1.PreferredSchedulingTerm{{Weight: 1, Preference: nodes}}, terms),
		},
		PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: required, PreferredDuringSchedulingIgnoredDuringExecution: preferred,
		},
		PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: required, PreferredDuringSchedulingIgnoredDuringExecution: preferred,
		},
	}
}
