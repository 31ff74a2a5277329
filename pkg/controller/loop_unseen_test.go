// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// Somebody takes the labels off a child, so that the informers do not show it any more, and before
// it is repaired its feature is switched off. Nobody renders it and nobody sees it; it must go all the
// same, or a policy would go on to hold traffic up.
func TestObsoleteChildWithoutLabels(t *testing.T) {
	web := application("web")
	web.Spec.NetworkPolicy = &v1.NetworkPolicy{}
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(2 * time.Second)
		w.server.HoldWatch(child.NetworkPolicy)
		applytest.Edit(w.server, child.NetworkPolicy, namespace, "web", func(p *networkingv1.NetworkPolicy) { p.Labels = nil })
		w.edit("web", func(a *v1.Application) { a.Spec.NetworkPolicy = nil })
		pass(time.Second)
		w.server.ReleaseWatch(child.NetworkPolicy)
		pass(time.Minute)
		if left := w.server.All(child.NetworkPolicy); len(left) > 0 {
			t.Errorf("left is %v", left)
		}

		// From then on nothing is read, whatever happens to the Application.
		before := w.count(func(r applytest.Request) bool { return r.Verb == "get" })
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:3" })
		pass(time.Minute)
		w.edit("web", func(a *v1.Application) { a.Labels = map[string]string{"team": "shop"} })
		pass(time.Minute)
		reads := w.server.Requests(func(r applytest.Request) bool { return r.Verb == "get" })[before:]
		for _, r := range reads {
			if r.Kind == child.NetworkPolicy {
				t.Errorf("%s of the policy that is gone", r.Verb)
			}
		}
	})
}

// A child that is not the Application's by its UID is left alone, although status lists its name.
func TestObsoleteChildThatBecameForeign(t *testing.T) {
	web := application("web")
	web.Spec.NetworkPolicy = &v1.NetworkPolicy{}
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(2 * time.Second)
		w.server.HoldWatch(child.NetworkPolicy)
		w.server.Delete(child.NetworkPolicy, namespace, "web")
		theirs := &networkingv1.NetworkPolicy{}
		theirs.Namespace, theirs.Name = namespace, "web"
		applytest.Put(w.server, child.NetworkPolicy, theirs)
		w.edit("web", func(a *v1.Application) { a.Spec.NetworkPolicy = nil })
		pass(time.Second)
		w.server.ReleaseWatch(child.NetworkPolicy)
		pass(time.Minute)
		if left := w.server.All(child.NetworkPolicy); len(left) != 1 {
			t.Errorf("left is %v, want the policy of somebody else", left)
		}
	})
}
