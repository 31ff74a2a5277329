// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
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

		w.server.Delete(applytest.Applications, namespace, "a-second")
		pass(5 * time.Second)
		w.wantRoutes("b-third")

		writes := w.count(applytest.Request.Writes)
		pass(time.Hour)
		if got := w.count(applytest.Request.Writes); got != writes {
			t.Errorf("%d writes at rest", got-writes)
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
