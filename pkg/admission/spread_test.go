// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// A selector that is copied from another manifest selects other pods, and the scheduler ignores the Application's.
func TestSpreadsNothing(t *testing.T) {
	spread := func(selector *metav1.LabelSelector, changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			a.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				TopologyKey: corev1.LabelTopologyZone, MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector,
			}}
			for _, change := range changes {
				change(a)
			}
		})
	}
	selecting := func(key, value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
	podLabel := func(key, value string) func(*v1.Application) {
		return func(a *v1.Application) { a.Spec.PodMetadata = &v1.PodMetadata{Labels: map[string]string{key: value}} }
	}
	warning := []string{"spec.topologySpreadConstraints[topology.kubernetes.io/zone].labelSelector: it selects no pod of this Application, so the constraint does not spread them: " +
		"remove labelSelector to spread the Application's pods, or give them its labels in spec.podMetadata.labels"}
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		want         []string
	}{
		{name: "no selector", updated: spread(nil)},
		{name: "an empty selector", updated: spread(&metav1.LabelSelector{})},
		{name: "Fairlead's label", updated: spread(selecting(v1.LabelApplication, "web"))},
		{name: "the recommended label", updated: spread(selecting(v1.LabelName, "web"))},
		{name: "another Application's", updated: spread(selecting(v1.LabelApplication, "shop")), want: warning},
		{name: "a label that the pods lack", updated: spread(selecting("app", "web")), want: warning},
		{name: "a label of the Application, not of its pods", updated: spread(selecting("app", "web"), func(a *v1.Application) { a.Labels = map[string]string{"app": "web"} }), want: warning},
		{name: "a label that the pods get", updated: spread(selecting("app", "web"), podLabel("app", "web"))},
		{name: "a label that the pods get from the class", updated: spread(selecting("app", "web"), inClass("standard"))},
		{name: "a label that the pods lose", updated: spread(selecting("app", "web")), old: spread(selecting("app", "web"), podLabel("app", "web")), want: warning},
		{name: "as before", updated: spread(selecting("app", "web"), image("web:2")), old: spread(selecting("app", "web"))},
		{name: "the label of a ReplicaSet", updated: spread(&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pod-template-hash", Operator: metav1.LabelSelectorOpExists}}})},
		{name: "an adopted Deployment", updated: spread(selecting("app", "web"), func(a *v1.Application) { a.Spec.AdoptionPolicy = v1.AdoptionConsented })},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &cluster{config: func(c *Config) {
				c.Classes = &inClasses{classes: []*v1.ApplicationClass{applicationClass("standard", false, func(s *v1.ApplicationClassSpec) {
					s.Defaults = &v1.ApplicationDefaults{PodMetadata: &v1.PodMetadata{Labels: map[string]string{"app": "web"}}}
				})}}
			}}
			question := review(t, test.updated, nil)
			if test.old != nil {
				question = review(t, test.updated, test.old)
			}
			response := ask(t, c.handler(t), ValidatePath, question)
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}
