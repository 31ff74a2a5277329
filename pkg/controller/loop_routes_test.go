// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apis/apps/v1/validation"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/workqueue"
)

func routed(name, hostname string) *v1.Application {
	a := application(name)
	a.Spec.Routes = []v1.Route{{Name: "public", Hostnames: []string{hostname}}}
	return a
}

func (w *world) hasIngress(name string) bool {
	return applytest.Get[child.Object](w.server, child.Ingress, namespace, name) != nil
}

// wantRoutes compares which Applications have an Ingress, and which are stalled because another one
// has their route.
func (w *world) wantRoutes(owner string, stalled ...string) {
	w.Helper()
	if !w.hasIngress(owner) || meta.IsStatusConditionTrue(w.application(owner).Status.Conditions, v1.ConditionStalled) {
		w.Errorf("%s has an Ingress: %t; its conditions are %+v", owner, w.hasIngress(owner), w.application(owner).Status.Conditions)
	}
	for _, name := range stalled {
		w.wantCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)
		if c := meta.FindStatusCondition(w.application(name).Status.Conditions, v1.ConditionReady); c == nil || !strings.Contains(c.Message, namespace+"/"+owner) {
			w.Errorf("%s says %+v, want it to name %s", name, c, owner)
		}
		if w.hasIngress(name) {
			w.Errorf("%s has an Ingress", name)
		}
	}
}

// Webhooks race, and can be off: a host name that another Application has is refused in the sync too,
// and given on when its owner lets go of it, by an edit or by a deletion.
func TestRouteOfAnother(t *testing.T) {
	inWorld(t, setup{begin: withApplications(routed("first", "web.example.com"))}, func(w *world) {
		pass(5 * time.Second)
		// A name that comes before, and the same second: who serves it already stays the owner.
		applytest.Put(w.server, applytest.Applications, routed("a-second", "WEB.example.com"))
		w.edit("a-second", func(a *v1.Application) { a.Spec.Routes[0].Hostnames[0] = "web.example.com" })
		applytest.Put(w.server, applytest.Applications, routed("b-third", "web.example.com"))
		pass(5 * time.Second)
		w.wantRoutes("first", "a-second", "b-third")

		w.edit("first", func(a *v1.Application) { a.Spec.Routes[0].Hostnames[0] = "other.example.com" })
		pass(5 * time.Second)
		w.wantRoutes("a-second", "b-third")
		w.wantRoutes("first")

		// Until the garbage collector has taken its Ingress away, that serves.
		w.server.Delete(applytest.Applications, namespace, "a-second")
		pass(5 * time.Second)
		w.wantRefused("b-third")
		w.server.Delete(child.Ingress, namespace, "a-second")
		pass(5 * time.Second)
		w.wantRoutes("b-third")

		writes := w.count(applytest.Request.Writes)
		pass(time.Hour)
		if got := w.count(applytest.Request.Writes); got != writes {
			t.Errorf("%d writes at rest", got-writes)
		}
	})
}

func (w *world) wantRefused(name string) {
	w.Helper()
	w.wantCondition(name, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)
	if w.hasIngress(name) {
		w.Errorf("%s has an Ingress", name)
	}
}

// A host name is whose Ingress serves it, whatever its spec asks for by now: one that asks for another in vain,
// or only observes.
func TestServedRouteIsKept(t *testing.T) {
	for name, leave := range map[string]func(*v1.Application){
		"refused": func(a *v1.Application) { a.Spec.Routes[0].Hostnames = []string{"taken.example.com"} },
		"observing": func(a *v1.Application) {
			a.Spec.Routes[0].Hostnames, a.Spec.ReconcilePolicy = []string{"third.example.com"}, v1.ReconcileObserve
		},
		"suspended": func(a *v1.Application) {
			a.Spec.Routes[0].Hostnames, a.Spec.ReconcilePolicy = []string{"third.example.com"}, v1.ReconcileSuspend
		},
		"invalid": func(a *v1.Application) {
			a.Spec.Routes[0].Hostnames, a.Spec.Image = []string{"third.example.com"}, "no image"
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(routed("first", "web.example.com"), routed("other", "taken.example.com"))}, func(w *world) {
				pass(5 * time.Second)
				w.edit("first", leave)
				pass(5 * time.Second)
				applytest.Put(w.server, applytest.Applications, routed("thief", "web.example.com"))
				pass(5 * time.Second)
				w.wantRefused("thief")
				if name != "suspended" { // Then no status is written.
					if diff := cmp.Diff([]string{"http://web.example.com/"}, w.application("first").Status.URLs); diff != "" {
						t.Errorf("URLs of what is served (-want +got):\n%s", diff)
					}
				}
				w.edit("first", func(a *v1.Application) {
					a.Spec.Routes, a.Spec.ReconcilePolicy, a.Spec.Image = nil, v1.ReconcileEnforce, "registry.example.com/first:1"
				})
				pass(5 * time.Second)
				w.wantRoutes("thief")
			})
		})
	}
}

// What one sync may be writing, no other one takes, though no cache shows it yet, and though the other one is older.
func TestGrantedRouteIsKept(t *testing.T) {
	inWorld(t, setup{}, func(w *world) {
		granted := routed("granted", "web.example.com")
		granted.CreationTimestamp = metav1.Now()
		pass(time.Second)
		if errs, err := w.controller.grants.take(granted); err != nil || len(errs) > 0 {
			t.Fatal(errs, err)
		}
		older := routed("older", "*.example.com")
		older.Namespace, older.CreationTimestamp = "elsewhere", metav1.Unix(1, 0)
		if errs, err := w.controller.grants.take(older); err != nil || len(errs) == 0 {
			t.Errorf("the older one has it too: %v", err)
		}
		applytest.Put(w.server, applytest.Applications, routed("older", "web.example.com"))
		pass(5 * time.Second)
		w.wantRefused("older")
		w.controller.grants.forget(key("granted"))
		pass(5 * time.Second)
		w.wantRoutes("older")
	})
}

// A grant that no route came of does not outlive what asked for it: an edit that suspends the Application, or its
// deletion, must not keep the host name from others.
func TestGrantEndsWithItsRequest(t *testing.T) {
	for name, end := range map[string]func(*v1.Application){
		"suspended": func(a *v1.Application) { a.Spec.Routes, a.Spec.ReconcilePolicy = nil, v1.ReconcileSuspend },
		"deleting": func(a *v1.Application) {
			a.Spec.Routes, a.Finalizers, a.DeletionTimestamp = nil, []string{"example.com/hold"}, new(metav1.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{}, func(w *world) {
				w.server.Intercept(func(_ context.Context, r applytest.Request) error {
					if r.Kind == child.Ingress && r.Name == "first" && r.Writes() {
						return apierrors.NewForbidden(r.Kind.GroupVersionResource().GroupResource(), r.Name, nil)
					}
					return nil
				})
				applytest.Put(w.server, applytest.Applications, routed("first", "web.example.com"))
				pass(5 * time.Second)
				w.edit("first", end)
				pass(5 * time.Second)
				applytest.Put(w.server, applytest.Applications, routed("second", "web.example.com"))
				pass(5 * time.Second)
				w.wantRoutes("second")
			})
		})
	}
}

// Many Applications that ask for a wildcard in vain, again and again, wake nobody who has what they ask for.
func TestRefusedClaimsWakeNobody(t *testing.T) {
	inWorld(t, setup{begin: withApplications(routed("first", "a.example.com"), routed("second", "b.example.com"))}, func(w *world) {
		pass(5 * time.Second)
		woken := map[string]bool{}
		wakes := w.controller.grants.claimants
		wakes.enqueue = func(key cache.ObjectName, _ workqueue.Trigger) { woken[key.Name] = true }
		thief := routed("thief", "*.example.com")
		thief.Namespace = "elsewhere"
		applytest.Put(w.server, applytest.Applications, thief)
		pass(5 * time.Second)
		if applytest.Get[child.Object](w.server, child.Ingress, "elsewhere", "thief") != nil {
			t.Error("the thief has an Ingress")
		}
		wakes.enqueueClaimants([]v1.RouteKey{{Host: "*.example.com", Path: "/"}}, workqueue.Trigger{})
		if diff := cmp.Diff(map[string]bool{"thief": true}, woken); diff != "" {
			t.Errorf("queued (-want +got):\n%s", diff)
		}
	})
}

// An owner that only observes gives its host name up and asks for it again: the status of the one that waits for it follows.
func TestOwnerAsksAgain(t *testing.T) {
	inWorld(t, setup{begin: withApplications(routed("first", "web.example.com"))}, func(w *world) {
		pass(5 * time.Second)
		w.edit("first", func(a *v1.Application) {
			a.Spec.Routes[0].Hostnames, a.Spec.ReconcilePolicy = []string{"new.example.com"}, v1.ReconcileObserve
		})
		pass(5 * time.Second)
		applytest.Put(w.server, applytest.Applications, routed("second", "web.example.com"))
		pass(5 * time.Second)
		message := func() string {
			return meta.FindStatusCondition(w.application("second").Status.Conditions, v1.ConditionReady).Message
		}
		if got := message(); validation.GivenUpBy(got) != "first" {
			t.Errorf("second says %s", got)
		}
		w.edit("first", func(a *v1.Application) { a.Spec.Routes[0].Hostnames = []string{"web.example.com"} })
		pass(time.Second)
		if got := message(); validation.GivenUpBy(got) != "" || !strings.Contains(got, "belongs to Application") {
			t.Errorf("second still says %s", got)
		}
	})
}

// An Application that loses a dispute keeps what it has: its children stay as they were.
func TestRouteOfAnotherKeepsTheChildren(t *testing.T) {
	inWorld(t, setup{begin: withApplications(routed("first", "web.example.com"), routed("second", "api.example.com"))}, func(w *world) {
		pass(5 * time.Second)
		w.edit("second", func(a *v1.Application) {
			a.Spec.Image = "registry.example.com/second:2"
			a.Spec.Routes[0].Hostnames = []string{"api.example.com", "web.example.com"}
		})
		pass(5 * time.Second)
		w.wantCondition("second", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonRouteConflict)
		if got := w.image("second"); got != "registry.example.com/second:1" || !w.hasIngress("second") {
			t.Errorf("second runs %s and has an Ingress: %t", got, w.hasIngress("second"))
		}
		w.wantRoutes("first")
	})
}

// Both are listed at the start with the same age: one of them gets the route, and it is the same one
// after a restart.
func TestRouteAtTheStart(t *testing.T) {
	inWorld(t, setup{workers: 4, begin: withApplications(routed("b", "web.example.com"), routed("a", "web.example.com"))}, func(w *world) {
		pass(time.Minute)
		w.wantRoutes("a", "b")
		w.end()
		writes := w.count(applytest.Request.Writes)
		w.start()
		pass(time.Minute)
		w.wantRoutes("a", "b")
		if got := w.count(applytest.Request.Writes); got != writes {
			t.Errorf("%d writes after the restart", got-writes)
		}
	})
}
