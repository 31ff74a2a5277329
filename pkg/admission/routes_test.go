// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const keptConflict = `the spec is stored, but not applied until this is fixed: spec.routes[0].hostnames[0]: Invalid value: "web.example.com": ` +
	`belongs to Application other/front of another namespace, with all its paths: choose another host name`

// TestKeptConflict: an update beside a route that another Application has is accepted, and kubectl says that it is not carried out.
func TestKeptConflict(t *testing.T) {
	front := application(func(a *v1.Application) { a.Namespace, a.Name = "other", "front"; withRoute("web.example.com")(a) })
	stalled := func(status metav1.ConditionStatus, reason string) func(*v1.Application) {
		return func(a *v1.Application) {
			meta.SetStatusCondition(&a.Status.Conditions, metav1.Condition{Type: v1.ConditionStalled, Status: status, Reason: reason})
		}
	}
	conflict := stalled(metav1.ConditionTrue, v1.ReasonRouteConflict)
	routed := func(changes ...func(*v1.Application)) *v1.Application {
		return application(func(a *v1.Application) {
			withRoute("web.example.com")(a)
			for _, change := range changes {
				change(a)
			}
		})
	}
	for _, test := range []struct {
		name         string
		stored       []*v1.Application
		fails        bool
		updated, old *v1.Application
		want         []string
	}{
		{name: "another image", stored: []*v1.Application{front}, updated: routed(conflict, image("web:2")), old: routed(conflict), want: []string{keptConflict}},
		{name: "paused", stored: []*v1.Application{front}, updated: routed(conflict, func(a *v1.Application) { a.Spec.Paused = new(true) }), old: routed(conflict), want: []string{keptConflict}},
		{name: "a label", stored: []*v1.Application{front}, updated: routed(conflict, func(a *v1.Application) { a.Labels = map[string]string{"team": "a"} }), old: routed(conflict), want: []string{keptConflict}},
		{name: "another host name", stored: []*v1.Application{front}, updated: routed(conflict, withRoute("api.example.com")), old: routed(conflict)},
		{name: "the other one is gone", updated: routed(conflict, image("web:2")), old: routed(conflict)},
		{name: "stalled by something else", stored: []*v1.Application{front}, updated: routed(image("web:2")), old: routed(stalled(metav1.ConditionTrue, v1.ReasonInvalid))},
		{name: "not stalled any more", stored: []*v1.Application{front}, updated: routed(image("web:2")), old: routed(stalled(metav1.ConditionFalse, v1.ReasonRouteConflict))},
		{name: "the caches fail", stored: []*v1.Application{front}, fails: true, updated: routed(conflict, func(a *v1.Application) { a.Spec.Paused = new(true) }), old: routed(conflict)},
	} {
		t.Run(test.name, func(t *testing.T) {
			stored := &cluster{stored: test.stored}
			if test.fails {
				stored.config = func(config *Config) { config.Routes = &cluster{err: errors.New("no index")} }
			}
			response := ask(t, stored.handler(t), ValidatePath, review(t, test.updated, test.old))
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// TestHeldRoute: the host name that a suspended Application gave up in its spec does not move, and kubectl says so.
func TestHeldRoute(t *testing.T) {
	const held = `the spec is stored, but not applied until this is fixed: spec.routes[0].hostnames[0]: Invalid value: "web.example.com": ` +
		`Application shop/front gave it up, but its reconcilePolicy keeps it: ` +
		`resume that Application, or choose another host name or path`
	routed, suspend := withRoute("web.example.com"), func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend }
	asks := application(routed)
	for _, test := range []struct {
		name         string
		updated, old *v1.Application
		front        func(*v1.Application)
		want         []string
	}{
		{name: "an update", updated: asks, old: application(nil), front: suspend, want: []string{held}},
		{name: "a create", updated: asks, front: suspend, want: []string{held}},
		{name: "it asked before", updated: application(func(a *v1.Application) { routed(a); image("web:2")(a) }), old: asks, front: suspend},
		{name: "the other one is not suspended", updated: asks, front: func(*v1.Application) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			front := application(func(a *v1.Application) { a.Name = "front"; test.front(a) })
			stored := &cluster{stored: []*v1.Application{front}, serves: map[string][]v1.RouteKey{"front": asks.RouteKeys()}}
			var old any // A nil *Application would be an object.
			if test.old != nil {
				old = test.old
			}
			response := ask(t, stored.handler(t), ValidatePath, review(t, test.updated, old))
			if diff := cmp.Diff(test.want, response.Warnings); diff != "" || !response.Allowed {
				t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
			}
		})
	}
}

// TestScaleBesideConflict: kubectl scale says so too.
func TestScaleBesideConflict(t *testing.T) {
	front := application(func(a *v1.Application) { a.Namespace, a.Name = "other", "front"; withRoute("web.example.com")(a) })
	web := application(withRoute("web.example.com"))
	web.Status.Conditions = []metav1.Condition{{Type: v1.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1.ReasonRouteConflict}}
	classes := &inClasses{applications: []*v1.Application{web}, change: func(config *Config) { config.Routes = &cluster{stored: []*v1.Application{front, web}} }}
	response := ask(t, classes.handler(t), ValidateScalePath, scaleReview(t, 1, 2))
	if diff := cmp.Diff([]string{keptConflict}, response.Warnings); diff != "" || !response.Allowed {
		t.Errorf("warnings (-want +got), allowed %t %s:\n%s", response.Allowed, messageOf(response), diff)
	}
}
