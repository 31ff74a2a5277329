// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// After a fight over a field of the Deployment, a user deletes it. It is back at once, unless it is deleted again and again.
func TestDeletionAfterAFight(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		scale := func() {
			applytest.Edit(w.server, child.Deployment, namespace, "web", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) })
		}
		isThere := func() bool { return len(w.server.All(child.Deployment)) == 1 }
		pass(time.Second)
		for range immediateRepairs + 1 {
			scale()
			pass(time.Second)
		}
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonContended)
		w.wantMessage("web", "Another writer keeps changing .spec.replicas; repair is backing off.")

		for deletion := range immediateRepairs {
			w.server.Delete(child.Deployment, namespace, "web")
			pass(time.Second)
			if !isThere() {
				t.Fatalf("a second after deletion %d there is no Deployment", deletion+1)
			}
		}
		w.server.Delete(child.Deployment, namespace, "web")
		pass(time.Second)
		if isThere() {
			t.Errorf("deletion %d is repaired at once", immediateRepairs+1)
		}
		w.wantMessage("web", "Another writer keeps deleting it; repair is backing off.")
		pass(repairBaseDelay)
		if !isThere() {
			t.Errorf("there is no Deployment after %s", repairBaseDelay)
		}
		// The fight over the field is not forgotten.
		for range 2 {
			scale()
			pass(time.Second)
		}
		w.wantMessage("web", "Another writer keeps changing .spec.replicas; repair is backing off.")
	})
}

// During a fight over one field of the Deployment, another client changes a second field. The message names the second field only
// after another change of it.
func TestFieldOutsideAFight(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		change := func(changes ...func(*appsv1.Deployment)) {
			applytest.Edit(w.server, child.Deployment, namespace, "web", func(d *appsv1.Deployment) {
				for _, change := range changes {
					change(d)
				}
			})
			pass(time.Second)
		}
		scale := func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) }
		rename := func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "registry.example.com/other:1" }
		const (
			replicas = "Another writer keeps changing .spec.replicas; repair is backing off."
			image    = `Another writer keeps changing .spec.template.spec.containers[name="web"].image; repair is backing off.`
		)
		pass(time.Second)
		for range immediateRepairs + 1 {
			change(scale)
		}
		w.wantMessage("web", replicas)
		change(rename) // Now both differ.
		w.wantMessage("web", replicas)
		pass(2 * repairBaseDelay)
		change(rename)
		w.wantMessage("web", image)
	})
}

// Another client changes a field once, after a fight over another field that was repaired.
func TestFieldAfterAFight(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Second)
		for range immediateRepairs {
			applytest.Edit(w.server, child.Deployment, namespace, "web", func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) })
			pass(time.Second)
		}
		applytest.Edit(w.server, child.Deployment, namespace, "web", func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Image = "registry.example.com/other:1"
		})
		pass(time.Second)
		w.wantMessage("web", "Another writer keeps changing .spec.replicas; repair is backing off.")
	})
}

// Clients change other fields each time. The message accuses no writer of the last one, which was changed once.
func TestManyFieldsChangedOnce(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Second)
		for _, change := range []func(*appsv1.Deployment){
			func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(7)) },
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "registry.example.com/other:1" },
			func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = new(int32(3)) },
			func(d *appsv1.Deployment) { d.Spec.ProgressDeadlineSeconds = new(int32(7)) },
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.ServiceAccountName = "other" },
			func(d *appsv1.Deployment) { d.Spec.Paused = true },
		} {
			applytest.Edit(w.server, child.Deployment, namespace, "web", change)
			pass(time.Second)
		}
		w.wantMessage("web", "Another writer keeps changing it, each time other fields; repair is backing off.")
	})
}
