// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// TestRefusedRenumbering: the spec goes back to its first revision, and a policy keeps the ControllerRevision from its next number. That
// revision stays one that was healthy, and no sync counts on.
func TestRefusedRenumbering(t *testing.T) {
	inWorld(t, setup{begin: withApplications(reverting("web"))}, func(w *world) {
		w.serves("web")
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		w.serves("web")
		w.wantRevision("web", v1.RevisionStatus{Current: 2, LastHealthy: 2, FormerHealthy: []int64{1}})
		allow := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Writes() && r.Kind == child.ControllerRevision {
				return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "controllerrevisions"}, "web", nil)
			}
			return nil
		})
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:1" })
		w.serves("web")
		pass(time.Minute)
		want := v1.RevisionStatus{Current: 1, LastHealthy: 1, FormerHealthy: []int64{2}}
		w.wantRevision("web", want)
		version, syncs := w.server.Version(), len(w.log.find("Synced"))
		pass(time.Hour)
		if got := w.server.Version(); got != version {
			w.Errorf("%d writes while the revision is refused, want none", got-version)
		}
		if got := len(w.log.find("Synced")) - syncs; got > 1000 {
			w.Errorf("%d syncs in an hour, want those of the backoff", got)
		}
		w.wantRevision("web", want)
		allow()
		pass(10 * time.Minute)
		w.wantRevision("web", v1.RevisionStatus{Current: 3, LastHealthy: 3, FormerHealthy: []int64{2}})
	})
}

// TestHealthyWhileWithheld: the spec goes back to what was healthy while nothing may be written. It stays what was healthy.
func TestHealthyWhileWithheld(t *testing.T) {
	web := reverting("web")
	web.Spec.Env = using("web", "db").Spec.Env
	for name, withhold := range map[string]func(w *world) (release func()){
		"a missing Secret": func(w *world) func() {
			w.server.Delete(applytest.Secrets, namespace, "db")
			return func() { applytest.Put(w.server, applytest.Secrets, secret("db", "one")) }
		},
		"Observe": func(w *world) func() {
			w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileObserve })
			return func() { w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileEnforce }) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{begin: withSecrets([]*corev1.Secret{secret("db", "one")}, web)}, func(w *world) {
				w.serves("web")
				w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
				pass(time.Second)
				release := withhold(w)
				pass(time.Minute)
				w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:1" })
				pass(time.Hour)
				w.wantRevision("web", v1.RevisionStatus{Current: 2, LastHealthy: 1})
				release()
				w.serves("web")
				pass(time.Minute)
				w.wantRevision("web", v1.RevisionStatus{Current: 3, LastHealthy: 3})
				w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:3" })
				pass(time.Second)
				w.fails("web")
				pass(time.Second)
				w.serves("web")
				w.wantCondition("web", v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)
			})
		})
	}
}
