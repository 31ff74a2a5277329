// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package why_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/cluster/clustertest"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestRolledBackByClass: nobody changed the spec, so a correction of the spec is no advice, and undo would pin what runs.
func TestRolledBackByClass(t *testing.T) {
	const (
		bySpec  = "The rollout of the spec failed, so the last healthy revision runs instead. Fairlead did not change the spec.\n"
		byClass = "The rollout failed, so the last healthy revision runs instead. Fairlead did not change the spec. " +
			"Revision 2 differs from revision 1 only in what the spec leaves to ApplicationClass std: "
		correct = "   → Correct what failed and apply it: any change of the pods is tried again.\n"
		askTeam = "   → Ask the platform team to correct ApplicationClass std: Fairlead then rolls its pods out. To see what it gives: kubectl fairlead classes std\n"
		enforce = "   → Let Fairlead change the children again, before you correct what failed: "
		undo    = "   → Or keep what runs: kubectl fairlead undo web\n"
	)
	annotated := func(value string) *v1.PodMetadata {
		return &v1.PodMetadata{Annotations: map[string]string{"simulate": value}}
	}
	memory := func(quantity string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}}
	}
	class := func(defaults v1.ApplicationDefaults) *v1.AppliedClass {
		return &v1.AppliedClass{Name: "std", Defaults: &defaults}
	}
	secret := func(name string) []corev1.LocalObjectReference { return []corev1.LocalObjectReference{{Name: name}} }
	for name, test := range map[string]struct {
		class              *v1.AppliedClass
		spec, failed, runs v1.ApplicationSpec
		observe            bool
		want               map[string]bool
	}{
		"no class": {
			nil, v1.ApplicationSpec{Image: "web:2"}, v1.ApplicationSpec{Image: "web:2"}, v1.ApplicationSpec{Image: "web:1"}, false,
			map[string]bool{bySpec: true, correct + undo: true, askTeam: false},
		},
		"the spec, beside a class that gives the same": {
			class(v1.ApplicationDefaults{Resources: memory("1Gi")}), v1.ApplicationSpec{Image: "web:2"},
			v1.ApplicationSpec{Image: "web:2", Resources: memory("1Gi")}, v1.ApplicationSpec{Image: "web:1", Resources: memory("1Gi")}, false,
			map[string]bool{bySpec: true, correct + undo: true, askTeam: false},
		},
		"the class": {
			class(v1.ApplicationDefaults{PodMetadata: annotated("image-pull-error")}), v1.ApplicationSpec{Image: "web:1"},
			v1.ApplicationSpec{Image: "web:1", PodMetadata: annotated("image-pull-error")}, v1.ApplicationSpec{Image: "web:1"}, false,
			map[string]bool{
				byClass + "podMetadata.annotations.simulate.\n": true, askTeam + "   → Or override the class: set spec.podMetadata.annotations.simulate in the Application.\n": true,
				bySpec: false, correct: false, undo: false,
			},
		},
		"the class, of two fields": {
			class(v1.ApplicationDefaults{Resources: memory("8Mi"), ImagePullSecrets: secret("new")}), v1.ApplicationSpec{Image: "web:1"},
			v1.ApplicationSpec{Image: "web:1", Resources: memory("8Mi"), ImagePullSecrets: secret("new")},
			v1.ApplicationSpec{Image: "web:1", Resources: memory("1Gi"), ImagePullSecrets: secret("old")}, false,
			map[string]bool{
				byClass + "resources.limits.memory and imagePullSecrets.\n": true, undo: false,
				askTeam + "   → Or override the class: set spec.resources.limits.memory in the Application.\n": true,
			},
		},
		"the class, which no longer gives something that nobody can set": {
			class(v1.ApplicationDefaults{}), v1.ApplicationSpec{Image: "web:1"},
			v1.ApplicationSpec{Image: "web:1"}, v1.ApplicationSpec{Image: "web:1", ImagePullSecrets: secret("old")}, false,
			map[string]bool{byClass + "imagePullSecrets.\n": true, askTeam: true, "override the class": false, undo: true},
		},
		"the class, under Observe": {
			class(v1.ApplicationDefaults{Resources: memory("8Mi")}), v1.ApplicationSpec{Image: "web:1"},
			v1.ApplicationSpec{Image: "web:1", Resources: memory("8Mi")}, v1.ApplicationSpec{Image: "web:1"}, true,
			map[string]bool{byClass + "resources.limits.memory. Now it changes no child, since reconcilePolicy is Observe.\n": true, enforce: true, askTeam: true, correct: false, undo: false},
		},
		"the spec decides about a field of the class": {
			class(v1.ApplicationDefaults{}), v1.ApplicationSpec{Image: "web:1", Resources: memory("8Mi")},
			v1.ApplicationSpec{Image: "web:1", Resources: memory("8Mi")}, v1.ApplicationSpec{Image: "web:1", Resources: memory("1Gi")}, false,
			map[string]bool{bySpec: true, correct + undo: true, askTeam: false},
		},
		"both changed": {
			class(v1.ApplicationDefaults{PodMetadata: annotated("new")}), v1.ApplicationSpec{Image: "web:2"},
			v1.ApplicationSpec{Image: "web:2", PodMetadata: annotated("new")}, v1.ApplicationSpec{Image: "web:1", PodMetadata: annotated("old")}, false,
			map[string]bool{bySpec: true, correct: true, askTeam: false, undo: true},
		},
		"both changed, and only the class leads back": {
			class(v1.ApplicationDefaults{PodMetadata: annotated("new")}), v1.ApplicationSpec{Image: "web:2"},
			v1.ApplicationSpec{Image: "web:2", PodMetadata: annotated("new")}, v1.ApplicationSpec{Image: "web:1"}, false,
			map[string]bool{bySpec: true, correct: true, askTeam: false, undo: false},
		},
	} {
		loaded := clustertest.Load(t, "crash")
		application := loaded.Application
		application.Status.Class, application.Spec = test.class, test.spec
		if test.observe {
			application.Spec.ReconcilePolicy = v1.ReconcileObserve
		}
		ask(t, loaded, 1, test.runs)
		ask(t, loaded, 2, test.failed)
		wantParts(t, name, shown(t, loaded), test.want)
	}
}
