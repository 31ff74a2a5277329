// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// TestHeldChanges: kubectl warns the user of a change that a switch holds back.
func TestHeldChanges(t *testing.T) {
	const (
		observed  = "spec.reconcilePolicy: it is Observe, so this change of the pods has no effect until you set it to Enforce"
		suspended = "spec.reconcilePolicy: it is Suspend, so this change of the pods has no effect until you set it to Enforce"
		scaled    = "spec.reconcilePolicy: it is Suspend, so this change has no effect until you set it to Enforce"
		waits     = "spec.paused: the pods stay as they are, so this change of the pods has no effect until you set it to false"
		halfway   = "spec.paused: no pod starts for this change before you set it to false. If the change takes back the rollout that has begun, Kubernetes stops the pods of that rollout nevertheless, once enough others are available"
		files     = "spec.paused: the rollout waits until you set it to false, but ConfigMap web-config changes at once, and running pods see its new files within about a minute"
		unsure    = "spec.paused: the rollout waits until you set it to false, but ConfigMap web-config changes at once if the pods to come have other files, and running pods see its new files within about a minute"
		ends      = "spec.paused: this change of the pods ends the rollback, but no pod is replaced until you set it to false"
		stays     = "spec.rollback.toRevision: revision 1 does not exist, so this change of the pods has no effect until you name another one or remove the field. The Application has no revisions yet"
		unknown   = "spec.rollback.toRevision: revision 1 does not exist, so Fairlead changes nothing until you name another one or remove the field. The Application has no revisions yet"
	)
	type change = func(*v1.Application)
	policy := func(policy v1.ReconcilePolicy) change {
		return func(a *v1.Application) { a.Spec.ReconcilePolicy = policy }
	}
	observe, suspend, enforce := policy(v1.ReconcileObserve), policy(v1.ReconcileSuspend), policy(v1.ReconcileEnforce)
	pause := func(paused bool) change { return func(a *v1.Application) { a.Spec.Paused = new(paused) } }
	label := func(a *v1.Application) { a.Labels = map[string]string{"team": "shop"} }
	pin := func(a *v1.Application) { a.Spec.Rollback = &v1.Rollback{ToRevision: new(int64(1))} }
	config := func(path, content string) change {
		return func(a *v1.Application) {
			a.Spec.Config = &v1.Config{MountPath: path, Data: map[string]string{"a": content}}
		}
	}
	rolledBack := func(a *v1.Application) {
		a.Status.Revision = &v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2}
		a.Status.Conditions = []metav1.Condition{
			{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1.ReasonRolledBack},
			{Type: v1.ConditionRolledBack, Status: metav1.ConditionTrue, Reason: v1.ReasonRolledBack},
		}
	}
	begun := func(a *v1.Application) {
		a.Status.DesiredReplicas, a.Status.Replicas, a.Status.UpdatedReplicas = 2, 3, 1
	}
	updated := func(a *v1.Application) {
		a.Status.DesiredReplicas, a.Status.Replicas, a.Status.UpdatedReplicas = 2, 2, 2
	}
	before, after := config("/etc/web", "1"), config("/etc/web", "2")
	adopt := func(a *v1.Application) { a.Spec.AdoptionPolicy = v1.AdoptionConsented }
	for _, test := range []struct {
		name     string
		old, new []change
		want     []string
	}{
		{name: "another image with Observe", old: []change{observe}, new: []change{observe, image("web:2")}, want: []string{observed}},
		{name: "another image with Suspend", old: []change{suspend}, new: []change{suspend, image("web:2")}, want: []string{suspended}},
		{name: "another image, and Observe instead of Suspend", old: []change{suspend}, new: []change{observe, image("web:2")}, want: []string{observed}},
		{name: "another number of pods with Suspend", old: []change{suspend}, new: []change{suspend, replicas(3)}, want: []string{scaled}},
		{name: "another image while paused", old: []change{pause(true)}, new: []change{pause(true), image("web:2")}, want: []string{waits}},
		{
			name: "another image while paused with Observe", old: []change{pause(true), observe}, new: []change{pause(true), observe, image("web:2")},
			want: []string{observed, waits},
		},
		{name: "another image, and the pause ends with Observe", old: []change{pause(true), observe}, new: []change{pause(false), observe, image("web:2")}, want: []string{observed}},

		{
			name: "the image before while paused half-way", old: []change{pause(true), begun, image("web:2")}, new: []change{pause(true), begun},
			want: []string{halfway},
		},
		{
			name: "another image while paused after a rollout", old: []change{pause(true), updated}, new: []change{pause(true), updated, image("web:2")},
			want: []string{waits},
		},
		{
			name: "the image before while paused half-way with Observe", old: []change{pause(true), observe, begun, image("web:2")},
			new: []change{pause(true), observe, begun}, want: []string{observed, waits},
		},
		{name: "an earlier revision while paused half-way", old: []change{pause(true), begun}, new: []change{pause(true), begun, pin}, want: []string{unknown, halfway}},
		{name: "an earlier revision while paused", old: []change{pause(true)}, new: []change{pause(true), pin}, want: []string{unknown, waits}},
		{name: "other files while paused", old: []change{pause(true), before}, new: []change{pause(true), after}, want: []string{files}},
		{name: "other files and another image while paused", old: []change{pause(true), before}, new: []change{pause(true), after, image("web:2")}, want: []string{files}},
		{name: "another directory of the same files while paused", old: []change{pause(true), before}, new: []change{pause(true), config("/srv", "1")}, want: []string{waits}},
		{name: "the first files while paused", old: []change{pause(true)}, new: []change{pause(true), after}, want: []string{waits}},
		{name: "no files any more while paused", old: []change{pause(true), before}, new: []change{pause(true)}, want: []string{waits}},
		{
			name: "other files while paused with Suspend", old: []change{pause(true), suspend, before}, new: []change{pause(true), suspend, after},
			want: []string{suspended, waits},
		},
		{name: "other files while paused at a revision", old: []change{pause(true), pin, before}, new: []change{pause(true), pin, after}, want: []string{stays, waits}},
		{name: "an earlier revision with files while paused", old: []change{pause(true), before}, new: []change{pause(true), before, pin}, want: []string{unknown, unsure}},
		{name: "the spec instead of a revision with files while paused", old: []change{pause(true), before, pin}, new: []change{pause(true), before}, want: []string{unsure}},
		{name: "the image that runs after a rollback, while paused", old: []change{pause(true), rolledBack, image("web:2")}, new: []change{pause(true), rolledBack}, want: []string{ends}},
		{
			name: "another image after a rollback, while paused, with the same files", old: []change{pause(true), rolledBack, before},
			new: []change{pause(true), rolledBack, before, image("web:2")}, want: []string{unsure},
		},
		{
			name: "other files after a rollback, while paused", old: []change{pause(true), rolledBack, before},
			new: []change{pause(true), rolledBack, after}, want: []string{unsure},
		},
		{
			name: "another image after a rollback, while paused with Observe", old: []change{pause(true), observe, rolledBack, before},
			new: []change{pause(true), observe, rolledBack, before, image("web:2")}, want: []string{observed, waits},
		},
		{name: "another number of pods after a rollback, while paused", old: []change{pause(true), rolledBack}, new: []change{pause(true), rolledBack, replicas(3)}},

		{name: "another image, and back to Enforce", old: []change{observe}, new: []change{enforce, image("web:2")}},
		{name: "another image, and back to the default", old: []change{suspend}, new: []change{image("web:2")}},
		{name: "another image, and the pause ends", old: []change{pause(true)}, new: []change{pause(false), image("web:2")}},
		{name: "another image with what holds it back", new: []change{suspend, pause(true), image("web:2")}, want: []string{suspended, waits}},
		{name: "another image with the manifest of an adoption", old: []change{enforce}, new: []change{observe, image("web:2")}, want: []string{observed}},
		{name: "another image with the pause of an adoption", old: []change{pause(false)}, new: []change{pause(true), image("web:2")}, want: []string{waits}},
		{name: "another image with Enforce", old: []change{enforce, pause(false)}, new: []change{enforce, pause(false), image("web:2")}},
		{name: "another number of pods while paused", old: []change{pause(true)}, new: []change{pause(true), replicas(3)}},
		{name: "a label", old: []change{observe, pause(true)}, new: []change{observe, pause(true), label}},
		{name: "another switch", old: []change{observe}, new: []change{suspend, pause(true)}},
		{name: "the consent to an adoption, which status reports", old: []change{observe}, new: []change{observe, adopt}},
	} {
		t.Run(test.name, func(t *testing.T) {
			with := func(changes []change) *v1.Application {
				return application(func(a *v1.Application) {
					for _, change := range changes {
						change(a)
					}
				})
			}
			mayAdopt := &cluster{allowed: []string{"web"}}
			response := ask(t, mayAdopt.handler(t), ValidatePath, review(t, with(test.new), with(test.old)))
			if !response.Allowed {
				t.Errorf("refused: %s", messageOf(response))
			}
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" {
				t.Errorf("the warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// A new Application has nothing that a user could take for carried out.
func TestNewApplicationIsNotHeld(t *testing.T) {
	created := application(func(a *v1.Application) { a.Spec.ReconcilePolicy, a.Spec.Paused = v1.ReconcileObserve, new(true) })
	if response := ask(t, (&cluster{}).handler(t), ValidatePath, review(t, created, nil)); len(response.Warnings) > 0 {
		t.Errorf("the warnings are %q", response.Warnings)
	}
}
