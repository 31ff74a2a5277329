// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/render/rendertest"
	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// Whatever one edit changes, no ServiceAccount or ConfigMap goes that the live template, or pods of an older
// one, refer to.
func TestNoDeleteTakesFromPods(t *testing.T) {
	fixedseed.Check(t, func(t *rapid.T) {
		draw := func(label string) *v1.Application {
			drawn := rendertest.Applications().Draw(t, label)
			drawn.Namespace, drawn.Name, drawn.UID = "shop", "web", applicationUID
			return drawn
		}
		older, snapshot := settled(t, draw("older")), settled(t, draw("before"))
		for r, object := range older.Children {
			if _, found := snapshot.Children[r]; !found {
				snapshot.Children[r] = object
			}
		}
		used := []child.PodReferences{child.ReferencesOf(&live[*appsv1.Deployment](snapshot, child.Deployment).Spec.Template.Spec)}
		if rapid.Bool().Draw(t, "older pods run") {
			references := child.ReferencesOf(&live[*appsv1.Deployment](older, child.Deployment).Spec.Template.Spec)
			used = append(used, references)
			snapshot.ReplicaSets = []*child.ReplicaSet{{ObjectMeta: metav1.ObjectMeta{Name: "old"}, HasPods: true, References: references}}
		}
		snapshot.Application = draw("after")
		in := plan.Input{Snapshot: snapshot, Missing: rapid.SampledFrom([]string{"", missing}).Draw(t, "missing")}
		for _, s := range computeFrom(t, in) {
			for _, references := range used {
				if s.Action == plan.Delete && references.Has(s.Ref) {
					t.Fatalf("%s is deleted while pods refer to it", s.Ref)
				}
			}
		}
	})
}
