// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"
	"time"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// With deletionPolicy Orphan the children stay, without an owner, and the Application goes.
func TestOrphan(t *testing.T) {
	web := application("web")
	web.Spec.DeletionPolicy = v1.DeletionOrphan
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(5 * time.Second)
		first := w.server.Requests(applytest.Request.Writes)[0]
		if first.Kind != applytest.Applications || !slices.Contains(w.application("web").Finalizers, v1.FinalizerOrphan) {
			t.Errorf("the first write is %s of %s; want the finalizer before any child", first.Verb, first.Kind)
		}
		w.told()
		w.server.Delete(applytest.Applications, namespace, "web")
		pass(5 * time.Second)
		w.server.CollectGarbage()
		if w.application("web") != nil {
			t.Fatal("the Application is still there")
		}
		if got := w.server.All(); len(got) != 3 {
			t.Errorf("left are %v", got)
		}
		for _, ref := range w.server.All() {
			if owners := applytest.Get[child.Object](w.server, ref.Kind, ref.Namespace, ref.Name).GetOwnerReferences(); len(owners) > 0 {
				t.Errorf("%s belongs to %v", ref, owners)
			}
		}
		if got := w.told(); len(got) != 3 {
			t.Errorf("told are %q", got)
		}
		version := w.server.Version()
		pass(time.Hour)
		if w.server.Version() != version {
			t.Error("something is written after the end")
		}
	})
}

// The finalizer is there only as long as deletionPolicy asks for it.
func TestFinalizerFollowsDeletionPolicy(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(2 * time.Second)
		for _, policy := range []v1.DeletionPolicy{v1.DeletionDelete, v1.DeletionOrphan, v1.DeletionDelete} {
			w.edit("web", func(a *v1.Application) {
				a.Spec.DeletionPolicy = policy
				if !slices.Contains(a.Finalizers, "example.com/theirs") {
					a.Finalizers = append(a.Finalizers, "example.com/theirs")
				}
			})
			pass(2 * time.Second)
			want := []string{"example.com/theirs"}
			if policy == v1.DeletionOrphan {
				want = append(want, v1.FinalizerOrphan)
			}
			if got := w.application("web").Finalizers; !slices.Equal(got, want) {
				t.Errorf("with %s the finalizers are %v", policy, got)
			}
		}
	})
}

// reconcilePolicies are all of them: deletionPolicy is honoured under each.
var reconcilePolicies = []v1.ReconcilePolicy{v1.ReconcileEnforce, v1.ReconcileObserve, v1.ReconcileSuspend}

// Orphan is always honoured: also where one edit asks for it and stops the controller, and without a webhook
// that puts the finalizer on.
func TestOrphanUnderEachReconcilePolicy(t *testing.T) {
	for _, policy := range reconcilePolicies {
		t.Run(string(policy), func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
				pass(5 * time.Second)
				w.edit("web", func(a *v1.Application) {
					a.Spec.ReconcilePolicy, a.Spec.DeletionPolicy = policy, v1.DeletionOrphan
				})
				pass(5 * time.Second)
				w.server.Delete(applytest.Applications, namespace, "web")
				pass(5 * time.Second)
				w.server.CollectGarbage()
				if w.application("web") != nil {
					t.Error("the Application is still there")
				}
				if got := w.server.All(child.Deployment, child.Service, child.ServiceAccount); len(got) != 3 {
					t.Errorf("left are %v", got)
				}
			})
		})
	}
}

// The finalizer goes with Orphan, whatever reconcilePolicy says: else nobody could delete the Application while
// the controller is down.
func TestFinalizerGoesUnderEachReconcilePolicy(t *testing.T) {
	for _, policy := range reconcilePolicies {
		t.Run(string(policy), func(t *testing.T) {
			web := application("web")
			web.Spec.DeletionPolicy = v1.DeletionOrphan
			inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
				pass(5 * time.Second)
				w.edit("web", func(a *v1.Application) {
					a.Spec.ReconcilePolicy, a.Spec.DeletionPolicy = policy, v1.DeletionDelete
				})
				pass(5 * time.Second)
				if got := w.application("web").Finalizers; len(got) > 0 {
					t.Errorf("the finalizers are %v", got)
				}
			})
		})
	}
}
