// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
)

// healthyWith is a world with an Application whose first revision uses the Secret db and is healthy, and whose spec asks for
// a second one that uses nothing and crashes.
func healthyWith(t *testing.T, test func(w *world)) {
	t.Helper()
	web := reverting("web")
	web.Spec.Env = using("web", "db").Spec.Env
	inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, web)}, func(w *world) {
		w.serves("web")
		w.edit("web", func(a *v1.Application) { a.Spec.Image, a.Spec.Env = "web:2", nil })
		pass(time.Second)
		test(w)
	})
}

func (w *world) wantRolledBack() {
	w.Helper()
	if got := w.image("web"); got != "registry.example.com/web:1" || w.hash("web") == "" {
		w.Fatalf("the Deployment runs %s with the hash %q, want what was healthy last", got, w.hash("web"))
	}
	w.serves("web")
	w.wantCondition("web", v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)
}

// A controller that has never seen the references of the former revision goes back to it all the same: to look for its
// Secret is the first that it hears of Secrets.
func TestRollbackToARevisionThatUsesASecret(t *testing.T) {
	healthyWith(t, func(w *world) {
		w.end()
		w.start()
		pass(time.Minute)
		if got := w.count(func(r applytest.Request) bool { return r.Verb == "list" && r.Kind == applytest.Secrets }); got != 1 {
			w.Errorf("%d lists of Secrets, want the one of before the restart: the spec uses none", got)
		}
		w.fails("web")
		pass(5 * time.Second)
		w.wantRolledBack()
	})
}

// What runs is followed, whatever the spec asks for: a change of its Secret replaces the pods, one that goes is reported,
// and one that comes back ends the wait. A restart changes nothing of that.
func TestReferencesOfTheRevisionThatRuns(t *testing.T) {
	for name, restart := range map[string]bool{"without a restart": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			healthyWith(t, func(w *world) {
				w.fails("web")
				pass(5 * time.Second)
				w.wantRolledBack()
				again := func() {
					if restart {
						w.end()
						w.start()
						pass(time.Minute)
					}
				}
				again()
				before, rollouts := w.hash("web"), w.rollouts("web")
				w.setPassword("db", "two")
				pass(time.Minute)
				if w.hash("web") == before || w.rollouts("web") != rollouts+1 {
					w.Errorf("the edit made %d rollouts, want 1", w.rollouts("web")-rollouts)
				}
				w.serves("web")
				again()
				w.server.Delete(applytest.Secrets, namespace, "db")
				pass(time.Minute)
				w.wantMessage("web", "Secret db does not exist")
				again()
				applytest.Put(w.server, applytest.Secrets, secret("db", "three"))
				pass(time.Minute)
				w.wantRolledBack()
				if got := w.rollouts("web"); got != rollouts+2 {
					w.Errorf("%d rollouts for two contents, want 2", got-rollouts)
				}
			})
		})
	}
}

// What the spec asks for no more, and what does not run any more, wakes no sync.
func TestFormerReferencesWakeNothing(t *testing.T) {
	healthyWith(t, func(w *world) {
		w.serves("web")
		pass(time.Minute)
		syncs := len(w.log.find("Synced"))
		w.setPassword("db", "two")
		pass(time.Minute)
		if got := len(w.log.find("Synced")); got != syncs {
			w.Errorf("%d syncs for a Secret that nothing uses", got-syncs)
		}
	})
}
