// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

func (w *world) changesOfDeployment() int {
	return w.server.Changes(child.Deployment, namespace, "web")
}

// A cache that has not seen the Deployment that was just created: no second one is created, and
// no older spec is written over a newer one.
func TestStaleCache(t *testing.T) {
	inWorld(t, setup{}, func(w *world) {
		pass(time.Second)
		w.server.HoldWatch(child.Deployment)
		applytest.Put(w.server, applytest.Applications, application("web"))
		pass(time.Second)
		for _, image := range []string{"web:2", "web:3"} {
			w.edit("web", func(a *v1.Application) { a.Spec.Image = image })
			pass(5 * time.Second)
		}
		if got := w.count(createOf(child.Deployment)); got != 1 {
			t.Errorf("%d creations of the Deployment", got)
		}
		if got := w.changesOfDeployment(); got != 1 || w.image("web") != "registry.example.com/web:1" {
			t.Errorf("%d changes of the Deployment without knowing it; it runs %s", got, w.image("web"))
		}
		if failures := w.log.errors(); len(failures) > 0 {
			t.Errorf("to wait for a cache is no error: %q", failures)
		}
		w.server.ReleaseWatch(child.Deployment)
		pass(37 * time.Second)
		if got := w.image("web"); got != "web:3" {
			t.Errorf("the Deployment runs %s, want the newest image", got)
		}
		// Created, its managed fields converted, applied: web:2 was never written.
		if got := w.changesOfDeployment(); got > 3 {
			t.Errorf("%d changes of the Deployment", got)
		}
	})
}

// A cache that still shows the Service which was just deleted: it is not deleted again, and what
// is created in its place is left alone.
func TestStaleCacheAfterDelete(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(5 * time.Second)
		w.server.HoldWatch(child.Service)
		w.edit("web", func(a *v1.Application) { a.Spec.Ports = nil })
		pass(time.Second)
		w.edit("web", func(a *v1.Application) { a.Spec.Ports = application("web").Spec.Ports })
		pass(10 * time.Second)
		deletes := func(r applytest.Request) bool { return r.Verb == "delete" && r.Kind == child.Service }
		if got := w.count(deletes); got != 1 {
			t.Errorf("%d deletions of the Service", got)
		}
		w.server.ReleaseWatch(child.Service)
		pass(37 * time.Second)
		if got := w.server.UIDs(child.Service, namespace, "web"); len(got) != 2 || w.count(deletes) != 1 || len(w.server.All(child.Service)) != 1 {
			t.Errorf("the Services were %v, with %d deletions; there are %v", got, w.count(deletes), w.server.All(child.Service))
		}
	})
}

// An Application that is deleted and comes again under its name, while the caches lag, is a new
// one: the children of the old one are not its own.
func TestRecreatedUnderTheSameName(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(5 * time.Second)
		w.server.HoldWatch(applytest.Applications)
		w.server.Delete(applytest.Applications, namespace, "web")
		applytest.Put(w.server, applytest.Applications, application("web"))
		w.server.CollectGarbage()
		pass(5 * time.Second)
		w.server.ReleaseWatch(applytest.Applications)
		pass(37 * time.Second)
		// What the cache of the old one brought back is garbage too.
		w.server.CollectGarbage()
		pass(37 * time.Second)
		if w.deployment("web") == nil || !child.OwnedBy(w.deployment("web"), w.application("web")) {
			t.Errorf("the Deployment is %v", w.deployment("web"))
		}
		w.pods("web", 1)
		pass(2 * time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
	})
}

// A watch that ends with 410 Gone is nothing that a child should notice.
func TestExpiredWatch(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Second)
		w.pods("web", 1)
		pass(5 * time.Second)
		version := w.server.Version()
		for _, kind := range append(child.Kinds(), applytest.Applications) {
			w.server.ExpireWatch(kind)
		}
		pass(10 * time.Minute)
		if got := w.server.Version(); got != version {
			t.Errorf("%d changes because of it", got-version)
		}
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" })
		pass(time.Second)
		if got := w.image("web"); got != "web:2" {
			t.Errorf("afterwards the Deployment runs %s", got)
		}
	})
}

// A write that was carried out although its answer was lost is not done twice.
func TestAnswerLost(t *testing.T) {
	inWorld(t, setup{}, func(w *world) {
		pass(time.Second)
		var lost []string
		w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			what := r.Verb + " " + r.Kind.Kind
			if !toChildren(r) || slices.Contains(lost, what) {
				return nil
			}
			lost = append(lost, what)
			return applytest.AnswerLostError{Err: errors.New("connection reset")}
		})
		applytest.Put(w.server, applytest.Applications, application("web"))
		pass(time.Minute)
		w.pods("web", 1)
		pass(2 * time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		for _, ref := range w.server.All() {
			if got := w.server.UIDs(ref.Kind, ref.Namespace, ref.Name); len(got) != 1 {
				t.Errorf("%s was created %d times", ref, len(got))
			}
		}
		if len(lost) != 4 {
			t.Errorf("lost are the answers of %v", lost)
		}
	})
}
