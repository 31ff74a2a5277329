// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/consistency"
)

func TestSameSpecSince(t *testing.T) {
	// seen is a Deployment of a sync. Its spec is its number of pods.
	type seen struct {
		uid        types.UID
		generation int64
		replicas   int32
	}
	tests := []struct {
		name string
		seen []seen
		want int64
	}{
		{"at first", []seen{{"a", 4, 1}}, 4},
		{"the same generation", []seen{{"a", 4, 1}, {"a", 4, 1}}, 4},
		{"other annotations", []seen{{"a", 4, 1}, {"a", 5, 1}, {"a", 6, 1}}, 4},
		{"another spec", []seen{{"a", 4, 1}, {"a", 5, 2}}, 5},
		{"another spec, and other annotations", []seen{{"a", 4, 1}, {"a", 5, 2}, {"a", 6, 2}}, 5},
		{"the spec of before", []seen{{"a", 4, 1}, {"a", 5, 2}, {"a", 6, 1}}, 6},
		{"a generation that no sync saw", []seen{{"a", 4, 1}, {"a", 6, 1}}, 6},
		{"another Deployment", []seen{{"a", 4, 1}, {"b", 5, 1}}, 5},
		{"no Deployment", nil, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMemory(consistency.NewStore())
			snapshot := child.Snapshot{Application: &v1.Application{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}}
			got, err := m.sameSpecSince(snapshot)
			for _, d := range test.seen {
				snapshot.Children = map[child.Ref]child.Object{{Kind: child.Deployment, Namespace: "shop", Name: "web"}: &appsv1.Deployment{
					ObjectMeta: metav1.ObjectMeta{UID: d.uid, Generation: d.generation}, Spec: appsv1.DeploymentSpec{Replicas: &d.replicas},
				}}
				got, err = m.sameSpecSince(snapshot)
			}
			if got != test.want || err != nil {
				t.Errorf("%d, %v, want %d", got, err, test.want)
			}
		})
	}
}

// Another annotation on the Deployment makes another generation, which the Deployment controller has not observed yet. No pod changes, so the
// Application stays ready, and has no second Event. A rollout shows at once, also beside the annotation.
func TestAnnotatedDeploymentStaysReady(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		w.serves("web")
		w.told()
		for _, value := range []string{"y", "z"} {
			applytest.Edit(w.server, child.Deployment, namespace, "web", func(d *appsv1.Deployment) {
				metav1.SetMetaDataAnnotation(&d.ObjectMeta, "x", value)
			})
			pass(time.Second)
			if d := w.deployment("web"); d.Generation == d.Status.ObservedGeneration {
				w.Errorf("the Deployment controller has observed generation %d", d.Generation)
			}
			w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		}
		w.serves("web")
		if got := w.told(); len(got) > 0 {
			w.Errorf("Events %q", got)
		}
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRollingOut)
	})
}
