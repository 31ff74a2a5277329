// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// An invalid spec changes no child, and nothing is tried until it is edited.
func TestInvalidSpec(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Second)
		w.pods("web", 1)
		pass(5 * time.Second)
		before := w.count(toChildren)
		w.edit("web", func(a *v1.Application) { a.Spec.Image, a.Spec.Replicas = "web:2", new(int32(-1)) })
		pass(time.Second)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonInvalid)
		requests := w.count(applytest.Request.Writes)
		syncs := len(w.log.find("Synced"))
		pass(time.Hour)
		if got := w.count(applytest.Request.Writes); got != requests {
			t.Errorf("%d writes while it waits for an edit", got-requests)
		}
		if got := len(w.log.find("Synced")); got != syncs {
			t.Errorf("%d syncs while it waits for an edit", got-syncs)
		}
		if got := w.count(toChildren); got != before || w.image("web") != "registry.example.com/web:1" || len(w.server.All()) != 4 {
			t.Errorf("%d writes of children; the Deployment runs %s; there are %v", got-before, w.image("web"), w.server.All())
		}
		if got := w.application("web").Status; got.ObservedGeneration != 2 || len(got.Resources) != 4 {
			t.Errorf("status is %+v", got)
		}
		w.edit("web", func(a *v1.Application) { a.Spec.Replicas = new(int32(1)) })
		pass(time.Second)
		if got := w.image("web"); got != "web:2" {
			t.Errorf("after the edit the Deployment runs %s", got)
		}
	})
}

// Suspended, nothing is written but one status for each edit. Afterwards all is.
func TestSuspend(t *testing.T) {
	web := application("web")
	web.Spec.ReconcilePolicy = v1.ReconcileSuspend
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(time.Hour)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonSuspended)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" })
		pass(time.Hour)
		if got, children := w.count(applytest.Request.Writes), w.count(toChildren); got != 2 || children != 0 {
			t.Errorf("%d writes, %d of them to children", got, children)
		}
		if status := w.application("web").Status; status.ObservedGeneration != 2 {
			t.Errorf("generation %d is observed", status.ObservedGeneration)
		}
		w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileEnforce })
		pass(2 * time.Second)
		if got := w.image("web"); got != "web:2" || len(w.server.All()) != 4 {
			t.Errorf("afterwards the Deployment runs %q", got)
		}
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonRollingOut)
	})
}

// An Application that is suspended in a fault no longer shows it. Its pods may change, and cause no write.
func TestSuspendInAFault(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Second)
		w.pods("web", 1)
		pass(5 * time.Second)
		w.edit("web", func(a *v1.Application) { a.Spec.ClassName = "none-of-this-name" })
		pass(time.Second)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonClassNotFound)
		w.told()
		w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend })
		pass(time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonSuspended)
		if stalled := meta.FindStatusCondition(w.application("web").Status.Conditions, v1.ConditionStalled); stalled != nil {
			t.Errorf("Stalled is still said: %+v", stalled)
		}
		before := w.count(applytest.Request.Writes)
		w.pods("web", 0)
		pass(time.Hour)
		if got := w.count(applytest.Request.Writes) - before; got != 0 {
			t.Errorf("%d writes while it is suspended", got)
		}
		if events := w.told(); len(events) > 0 {
			t.Errorf("told: %q", events)
		}
	})
}

// A Deployment that is deleted during a suspension does not come back, and status says so.
func TestSuspendWithoutADeployment(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		const sees = "The controller sees no Deployment of the Application, and creates none before the suspension ends."
		pass(time.Second)
		w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend })
		pass(time.Minute)
		if ready := meta.FindStatusCondition(w.application("web").Status.Conditions, v1.ConditionReady); strings.Contains(ready.Message, sees) {
			t.Errorf("with a Deployment: %q", ready.Message)
		}
		w.server.Delete(child.Deployment, namespace, "web")
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonSuspended)
		w.wantMessage("web", sees)
		if len(w.server.All(child.Deployment)) > 0 {
			t.Error("there is a Deployment")
		}
	})
}

// Observed, nothing is written but status, which tells what would be done.
func TestObserve(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Second)
		w.pods("web", 1)
		pass(5 * time.Second)
		w.told()
		w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileObserve })
		pass(2 * time.Second)
		before := w.count(toChildren)
		applytest.Edit(w.server, child.Service, namespace, "web", func(s *corev1.Service) { s.Spec.Ports[0].Port = 4321 })
		pass(time.Hour)
		if got := w.count(toChildren); got != before {
			t.Errorf("%d writes of children", got-before)
		}
		w.wantCondition("web", v1.ConditionDrifted, metav1.ConditionTrue, v1.ReasonDrifted)
		for _, event := range w.told() {
			if strings.Contains(event, v1.EventDriftRepaired) {
				t.Errorf("told: %s", event)
			}
		}
		w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileEnforce })
		pass(2 * time.Second)
		if got := applytest.Get[*corev1.Service](w.server, child.Service, namespace, "web").Spec.Ports; len(got) != 1 || got[0].Port == 4321 {
			t.Errorf("afterwards the ports are %v", got)
		}
		if drifted := meta.FindStatusCondition(w.application("web").Status.Conditions, v1.ConditionDrifted); drifted != nil {
			t.Errorf("afterwards Drifted is still said: %+v", drifted)
		}
	})
}

// blank are caches that have seen nothing.
type blank struct{}

func (blank) LastResourceVersion(schema.GroupVersionResource, string) string        { return "1" }
func (blank) HasLive(schema.GroupVersionResource, cache.ObjectName, types.UID) bool { return true }

// remembered returns how many writes and failures of an Application are remembered, and of how many Applications there is
// anything at all.
func (w *world) remembered(name string) (writes, applications, failures int) {
	w.controller.memory.mu.Lock()
	defer w.controller.memory.mu.Unlock()
	return len(w.store.Stale(key(name), blank{})), len(w.controller.memory.applications), w.controller.queue.Failures(key(name))
}

// Of an Application that is gone nothing is remembered by its name: the next one of that name
// starts without a debt.
func TestDeletedApplicationIsForgotten(t *testing.T) {
	inWorld(t, setup{}, func(w *world) {
		pass(time.Second)
		// The write of the Deployment stays unseen, and so the key fails to settle and its status waits.
		w.server.HoldWatch(child.Deployment)
		applytest.Put(w.server, applytest.Applications, application("web"))
		pass(time.Minute)
		if writes, applications, failures := w.remembered("web"); writes == 0 || applications == 0 || failures == 0 {
			t.Errorf("%d writes, %d Applications and %d failures are remembered; this test wants some of each", writes, applications, failures)
		}
		w.server.Delete(applytest.Applications, namespace, "web")
		pass(time.Second)
		if writes, applications, failures := w.remembered("web"); writes+applications+failures > 0 {
			t.Errorf("%d writes, %d Applications and %d failures are remembered", writes, applications, failures)
		}
		if got := w.count(func(r applytest.Request) bool { return r.Verb == "delete" }); got > 0 {
			t.Errorf("%d deletions, which are the garbage collector's", got)
		}
	})
}
