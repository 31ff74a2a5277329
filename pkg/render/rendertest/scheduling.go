// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package rendertest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// scheduling draws where pods run.
func scheduling(t *rapid.T, spec *v1.ApplicationSpec) {
	if sometimes(t, "nodeSelector") {
		spec.NodeSelector = map[string]string{"disk": oneOf(t, "disk", "", "ssd")}
	}
	spec.Tolerations = some(t, "tolerations",
		corev1.Toleration{Key: "gpu", Operator: corev1.TolerationOpExists},
		corev1.Toleration{Key: "team", Value: "shop", Effect: corev1.TaintEffectNoExecute, TolerationSeconds: maybe(t, "tolerationSeconds", rapid.Int64Range(0, 9))})
	spec.PriorityClassName = oneOf(t, "priorityClassName", "", "high")
	spec.Affinity = maybe(t, "affinity", rapid.Custom(affinity))
	selector := maybe(t, "labelSelector", rapid.SampledFrom([]metav1.LabelSelector{{}, {MatchLabels: map[string]string{"a": "b"}}}))
	spec.TopologySpreadConstraints = some(t, "topologySpreadConstraints",
		corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "rack", WhenUnsatisfiable: corev1.DoNotSchedule, MinDomains: maybe(t, "minDomains", rapid.Int32Range(1, 3)), LabelSelector: selector},
		corev1.TopologySpreadConstraint{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector},
		corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.ScheduleAnyway})
}

func affinity(t *rapid.T) corev1.Affinity {
	var affinity corev1.Affinity
	if sometimes(t, "nodeAffinity") {
		affinity.NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "disk", Operator: corev1.NodeSelectorOpIn, Values: []string{"ssd", "nvme"}}}}},
		}}
	}
	if sometimes(t, "podAntiAffinity") {
		affinity.PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 10,
			PodAffinityTerm: corev1.PodAffinityTerm{
				TopologyKey:       "zone",
				LabelSelector:     &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "noisy", Operator: metav1.LabelSelectorOpExists}}},
				NamespaceSelector: maybe(t, "namespaceSelector", rapid.Just(metav1.LabelSelector{})),
			},
		}}}
	}
	return affinity
}
