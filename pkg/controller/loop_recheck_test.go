// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// The garbage collector's work is seen before the end of the Application. None of it is undone.
func TestChildrenGoBeforeTheApplication(t *testing.T) {
	for _, test := range []struct {
		name   string
		delete func(w *world)
		left   int
	}{
		{"deleted", func(w *world) {
			w.server.Delete(applytest.Applications, namespace, "web")
			w.server.CollectGarbage()
		}, 0},
		{"orphaned", func(w *world) {
			// The finalizer is the garbage collector's own, and holds the Application meanwhile.
			w.edit("web", func(a *v1.Application) { a.Finalizers = []string{metav1.FinalizerOrphanDependents} })
			w.server.Delete(applytest.Applications, namespace, "web")
			applytest.Edit(w.server, child.ServiceAccount, namespace, "web", func(s *corev1.ServiceAccount) { s.OwnerReferences = nil })
		}, 1},
		{"replaced", func(w *world) {
			w.server.Delete(applytest.Applications, namespace, "web")
			w.server.CollectGarbage()
			another := application("web")
			another.Spec.ReconcilePolicy = v1.ReconcileSuspend
			applytest.Put(w.server, applytest.Applications, another)
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
				pass(5 * time.Second)
				w.server.HoldWatch(applytest.Applications)
				before := w.count(applytest.Request.Writes)
				test.delete(w)
				pass(time.Minute)
				if got := w.count(applytest.Request.Writes) - before; got > 0 {
					t.Errorf("%d writes for an Application that is going", got)
				}
				if got := len(w.server.All(child.ServiceAccount)); got != test.left {
					t.Errorf("%d ServiceAccounts are left, want %d", got, test.left)
				}
				w.server.ReleaseWatch(applytest.Applications)
				pass(time.Minute)
			})
		})
	}
}

// Without an answer nothing is repaired yet.
func TestRepairWaitsForTheAnswer(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(5 * time.Second)
		answer := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "get" && r.Kind == applytest.Applications {
				return errors.New("the connection broke")
			}
			return nil
		})
		w.server.Delete(child.ServiceAccount, namespace, "web")
		pass(time.Minute)
		if len(w.server.All(child.ServiceAccount)) != 0 {
			t.Error("the ServiceAccount was made again without an answer")
		}
		answer()
		pass(time.Minute)
		if len(w.server.All(child.ServiceAccount)) != 1 {
			t.Error("the ServiceAccount was not made again")
		}
	})
}
