// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
		w.wantCollectable("web", false)
		w.server.Delete(applytest.Applications, namespace, "web")
		pass(5 * time.Second)
		w.server.CollectGarbage()
		if w.application("web") != nil {
			t.Fatal("the Application is still there")
		}
		if got := w.server.All(); len(got) != 3 {
			t.Errorf("left are %v", got)
		}
		if got := w.count(func(r applytest.Request) bool { return toChildren(r) && r.Verb != "create" }); got > 0 {
			t.Errorf("%d writes of children that needed none", got)
		}
		version := w.server.Version()
		pass(time.Hour)
		if w.server.Version() != version {
			t.Error("something is written after the end")
		}
	})
}

// wantCollectable checks whether the garbage collector would delete the children with the Application. The
// history always goes.
func (w *world) wantCollectable(name string, want bool) {
	w.Helper()
	application := w.application(name)
	for _, ref := range w.server.All() {
		object := applytest.Get[child.Object](w.server, ref.Kind, ref.Namespace, ref.Name)
		if got, want := child.Collectable(object, application), want || ref.Kind == child.ControllerRevision; got != want {
			w.Errorf("%s: it is deleted with the Application: %t, want %t", ref, got, want)
		}
		if !child.OwnedBy(object, application) {
			w.Errorf("%s does not belong to the Application: %v, %v", ref, object.GetOwnerReferences(), object.GetAnnotations())
		}
	}
}

// The owners follow deletionPolicy to and fro, whatever reconcilePolicy says. No pod is replaced by that, and
// then nothing is written any more.
func TestOwnersFollowDeletionPolicy(t *testing.T) {
	for _, policy := range reconcilePolicies {
		t.Run(string(policy), func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
				pass(5 * time.Second)
				w.pods("web", 1)
				pass(5 * time.Second)
				spec := w.deployment("web").Spec
				w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = policy })
				for _, deletion := range []v1.DeletionPolicy{v1.DeletionOrphan, v1.DeletionDelete, v1.DeletionOrphan} {
					w.edit("web", func(a *v1.Application) { a.Spec.DeletionPolicy = deletion })
					pass(10 * time.Second)
					orphan := deletion == v1.DeletionOrphan
					w.wantCollectable("web", !orphan)
					if got := slices.Contains(w.application("web").Finalizers, v1.FinalizerOrphan); got != orphan {
						t.Errorf("with %s the Application has the finalizer: %t", deletion, got)
					}
					version := w.server.Version()
					pass(time.Hour)
					if w.server.Version() != version {
						t.Errorf("with %s something is written at rest", deletion)
					}
				}
				if got := w.deployment("web").Spec; !equality.Semantic.DeepEqual(got, spec) {
					t.Errorf("the Deployment's spec was written: %+v, want %+v", got, spec)
				}
			})
		})
	}
}

// A policy of others that denies the release of one child stops neither the others nor a rollout, and is
// reported. Once it is gone, the child is released.
func TestReleaseThatIsDenied(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(5 * time.Second)
		allow := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Kind == child.Service && r.Writes() {
				return denied()
			}
			return nil
		})
		w.edit("web", func(a *v1.Application) { a.Spec.DeletionPolicy, a.Spec.Image = v1.DeletionOrphan, "web:2" })
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonPolicyDenied)
		if got := w.image("web"); got != "web:2" {
			t.Errorf("the Deployment runs %s", got)
		}
		before := w.count(applytest.Request.Writes)
		pass(time.Hour)
		if got := w.count(applytest.Request.Writes) - before; got > 4*120 {
			t.Errorf("%d writes in an hour", got)
		}
		allow()
		pass(time.Minute)
		w.wantCollectable("web", false)
	})
}

// Without an ownerReference the label alone leads from a child to its Application. Taken off, it is put back.
func TestOrphanWithoutItsLabel(t *testing.T) {
	web := application("web")
	web.Spec.DeletionPolicy = v1.DeletionOrphan
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(5 * time.Second)
		before := w.count(toChildren)
		applytest.Edit(w.server, child.Service, namespace, "web", func(s *corev1.Service) { delete(s.Labels, v1.LabelApplication) })
		pass(time.Minute)
		if got := applytest.Get[*corev1.Service](w.server, child.Service, namespace, "web").Labels[v1.LabelApplication]; got != "web" {
			t.Errorf("the label is %q", got)
		}
		if got := w.count(toChildren) - before; got > 3 {
			t.Errorf("%d writes", got)
		}
		w.wantCollectable("web", false)
	})
}

// A child that no cache shows is not gone. Suspended, the controller restores no label; then come Orphan and the
// deletion, and the finalizer must not go before the child is released.
func TestOrphanOfAnUnseenChild(t *testing.T) {
	for name, between := range map[string]time.Duration{"deleted at once": 0, "released before": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
				pass(5 * time.Second)
				w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend })
				pass(5 * time.Second)
				applytest.Edit(w.server, child.Service, namespace, "web", func(s *corev1.Service) { s.Labels = nil })
				pass(5 * time.Second)
				w.edit("web", func(a *v1.Application) {
					a.Spec.DeletionPolicy, a.Finalizers = v1.DeletionOrphan, []string{v1.FinalizerOrphan}
				})
				if between > 0 {
					pass(between)
				}
				w.server.Delete(applytest.Applications, namespace, "web")
				pass(time.Second)
				w.server.CollectGarbage()
				if w.application("web") != nil {
					t.Error("the Application is still there")
				}
				if got := w.server.All(child.Service); len(got) != 1 {
					t.Errorf("left are the Services %v", got)
				}
			})
		})
	}
}

func denied() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "web", errors.New(`admission webhook "policy.example.com" denied the request: no`))
}

// Others give a child its ownerReference back again and again. Each time it is released, ever more seldom, and
// the Application says so.
func TestReleaseThatIsContended(t *testing.T) {
	web := application("web")
	web.Spec.DeletionPolicy = v1.DeletionOrphan
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(5 * time.Second)
		reference := *metav1.NewControllerRef(w.application("web"), v1.SchemeGroupVersion.WithKind(v1.ApplicationKind))
		before := w.count(toChildren)
		for range 600 {
			applytest.Edit(w.server, child.Service, namespace, "web", func(s *corev1.Service) { s.OwnerReferences = []metav1.OwnerReference{reference} })
			pass(time.Second)
		}
		if got := w.count(toChildren) - before; got < 6 || got > 20 {
			t.Errorf("%d releases in ten minutes, want a few", got)
		}
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonContended)
		pass(10 * time.Minute)
		w.wantCollectable("web", false)
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

// A deletion that is held up says by what: once, and then waits without a write. One that is not costs no write
// of the status.
func TestDeletionThatIsHeldUp(t *testing.T) {
	for _, test := range []struct {
		name       string
		policy     v1.DeletionPolicy
		finalizers []string
		fault      func(r applytest.Request) error
		want       string
	}{
		{name: "finalizers of others", finalizers: []string{"example.com/hold", "example.com/wait"},
			want: "Deletion waits until other clients remove the finalizers example.com/hold, example.com/wait."},
		{name: "a finalizer of others, after the release", policy: v1.DeletionOrphan, finalizers: []string{"example.com/hold"},
			want: "Deletion waits until another client removes the finalizer example.com/hold."},
		{name: "the garbage collector", finalizers: []string{metav1.FinalizerDeleteDependents},
			want: "Deletion waits until the garbage collector has deleted the children."},
		{name: "the garbage collector, which keeps the children", finalizers: []string{metav1.FinalizerOrphanDependents},
			want: "Deletion waits until the garbage collector has released the children."},
		{name: "a policy that denies the release", policy: v1.DeletionOrphan, fault: func(r applytest.Request) error {
			if r.Kind == child.Service && r.Writes() {
				return denied()
			}
			return nil
		}, want: `Deletion waits to keep Service web: services "web" is forbidden: admission webhook "policy.example.com" denied the request: no.`},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
				pass(5 * time.Second)
				w.pods("web", 1)
				pass(5 * time.Second)
				calm := func() {}
				if test.fault != nil {
					calm = w.server.Intercept(func(_ context.Context, r applytest.Request) error { return test.fault(r) })
				}
				w.edit("web", func(a *v1.Application) {
					a.Spec.DeletionPolicy = test.policy
					a.Finalizers = append(a.Finalizers, test.finalizers...)
				})
				pass(5 * time.Second)
				w.told()
				w.server.Delete(applytest.Applications, namespace, "web")
				pass(2 * time.Minute)
				w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDeleting)
				if got := meta.FindStatusCondition(w.application("web").Status.Conditions, v1.ConditionReady).Message; got != test.want {
					t.Errorf("it says %q, want %q", got, test.want)
				}
				told := slices.DeleteFunc(w.told(), func(event string) bool { return !strings.Contains(event, "Warning "+v1.ReasonDeleting) })
				if len(told) != 1 {
					t.Errorf("told are %q", told)
				}
				version, writes := w.server.Version(), w.count(applytest.Request.Writes)
				pass(time.Hour)
				if got := w.count(applytest.Request.Writes) - writes; w.server.Version() != version || got > 150 {
					t.Errorf("%d writes in an hour, the version was %d and is %d", got, version, w.server.Version())
				}
				calm()
				if len(test.finalizers) > 0 {
					w.edit("web", func(a *v1.Application) { a.Finalizers = nil })
				}
				pass(time.Minute)
				if w.application("web") != nil {
					t.Error("the Application is still there")
				}
			})
		})
	}
}
