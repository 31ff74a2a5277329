// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

// A new Application gets its children, and its status follows its pods.
func TestNewApplication(t *testing.T) {
	inWorld(t, setup{}, func(w *world) {
		pass(time.Second)
		applytest.Put(w.server, applytest.Applications, application("web"))
		pass(2 * time.Second)
		want := []child.Ref{
			{Kind: child.ServiceAccount, Namespace: namespace, Name: "web"},
			{Kind: child.ControllerRevision, Namespace: namespace, Name: w.deployment("web").Annotations[v1.AnnotationRevision]},
			{Kind: child.Deployment, Namespace: namespace, Name: "web"},
			{Kind: child.Service, Namespace: namespace, Name: "web"},
		}
		if diff := cmp.Diff(want, w.server.All()); diff != "" {
			w.Errorf("children (-want +got):\n%s", diff)
		}
		for _, ref := range w.server.All() {
			object := applytest.Get[child.Object](w.server, ref.Kind, ref.Namespace, ref.Name)
			if !child.OwnedBy(object, w.application("web")) {
				w.Errorf("%s belongs to %v", ref, object.GetOwnerReferences())
			}
		}
		if w.ready("web") {
			w.Error("it is ready before its pods")
		}
		w.pods("web", 1)
		pass(2 * time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		status := w.application("web").Status
		if status.ObservedGeneration != 1 || status.ReadyReplicas != 1 || status.Image != "registry.example.com/web:1" || len(status.Resources) != 4 {
			w.Errorf("status is %+v", status)
		}
		if failures := w.log.errors(); len(failures) > 0 {
			w.Errorf("errors logged:\n%s", failures)
		}
	})
}

// An edit of the Application is carried out once, and what it switches off is deleted.
func TestEditedApplication(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Minute)
		w.pods("web", 1)
		pass(time.Minute)
		w.told()
		before := w.count(toChildren)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2"; a.Spec.Ports = nil })
		pass(time.Second)
		if got := w.image("web"); got != "web:2" {
			w.Errorf("the Deployment runs %s", got)
		}
		if applytest.Get[*corev1.Service](w.server, child.Service, namespace, "web") != nil {
			w.Error("the Service is still there")
		}
		w.pods("web", 1)
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		if len(w.application("web").Status.Resources) != 3 {
			w.Errorf("resources are %+v", w.application("web").Status.Resources)
		}
		// The Deployment was created by a POST, so its managed fields are converted before the first apply.
		if after := w.count(toChildren); after-before > 4 {
			w.Errorf("%d writes, want at most 4: the new revision, convert, apply, delete", after-before)
		}
	})
}

// What others change is put back, and told.
func TestDrift(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Minute)
		w.told()
		applytest.Edit(w.server, child.Service, namespace, "web", func(s *corev1.Service) { s.Spec.Ports[0].Port = 4321 })
		pass(time.Second)
		if got := applytest.Get[*corev1.Service](w.server, child.Service, namespace, "web").Spec.Ports; len(got) != 1 || got[0].Port == 4321 {
			w.Errorf("ports are %v", got)
		}
		w.server.Delete(child.ServiceAccount, namespace, "web")
		pass(time.Second)
		if applytest.Get[*corev1.ServiceAccount](w.server, child.ServiceAccount, namespace, "web") == nil {
			w.Error("the ServiceAccount did not come back")
		}
		want := []string{
			`Normal DriftRepaired Repaired Service web: another client changed .spec.ports[port=8080,protocol="TCP"]; change the Application instead.`,
			"Normal DriftRepaired Repaired ServiceAccount web: another client deleted it.",
		}
		if diff := cmp.Diff(want, w.told()); diff != "" {
			w.Errorf("Events (-want +got):\n%s", diff)
		}
	})
}

// While a rollout moves counts, the status is written once, and once more when it is ready.
func TestStatusWritesSettle(t *testing.T) {
	web := application("web")
	web.Spec.Replicas = new(int32(10))
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		for ready := range int32(11) {
			pass(100 * time.Millisecond)
			w.pods("web", ready)
		}
		pass(100 * time.Millisecond)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		if got := w.count(statusOf("web")); got > 2 {
			w.Errorf("%d writes of status until it was ready, want at most 2", got)
		}
		pass(time.Minute)
		if got := w.count(statusOf("web")); got > 2 {
			w.Errorf("%d writes of status, the last ones after it was ready", got)
		}
	})
}

// The last of many deferred statuses is written, although no event comes after it.
func TestDeferredStatusIsWritten(t *testing.T) {
	web := application("web")
	web.Spec.Replicas = new(int32(10))
	inWorld(t, setup{begin: withApplications(web)}, func(w *world) {
		pass(time.Minute)
		w.pods("web", 3)
		pass(time.Second / 2)
		w.pods("web", 7)
		pass(time.Second / 4)
		if got := w.application("web").Status.ReadyReplicas; got != 0 {
			w.Errorf("%d ready replicas in status already", got)
		}
		pass(time.Second)
		if got := w.application("web").Status.ReadyReplicas; got != 7 {
			w.Errorf("%d ready replicas in status, want 7", got)
		}
	})
}

// Once all is settled nothing is written: not by a resync, and not because time passes.
func TestResyncWritesNothing(t *testing.T) {
	const applications = 20
	inWorld(t, setup{resync: 10 * time.Minute, begin: func(s *applytest.Server) {
		for i := range applications {
			applytest.Put(s, applytest.Applications, application(fmt.Sprintf("web-%d", i)))
		}
	}}, func(w *world) {
		pass(2 * time.Second)
		for i := range applications {
			w.pods(fmt.Sprintf("web-%d", i), 1)
		}
		pass(2 * time.Second)
		settled := w.count(applytest.Request.Writes)
		pass(61 * time.Minute)
		for _, r := range w.server.Requests(applytest.Request.Writes)[settled:] {
			w.Errorf("%s of %s %s %s", r.Verb, r.Kind, r.Name, r.Body)
		}
		if got := len(w.log.find("Synced", `trigger="ApplicationResynced"`)); got != 6*applications {
			w.Errorf("%d syncs by a resync, want %d", got, 6*applications)
		}
	})
}

// A resync looks at everything again, unless nothing has changed since the Application came to rest.
func TestResyncLooksAtWhatIsNew(t *testing.T) {
	recorder := debug.New()
	inWorld(t, setup{resync: 10 * time.Minute, begin: withApplications(application("web")), pipeline: recorder}, func(w *world) {
		pass(time.Second)
		w.pods("web", 1)
		pass(time.Second)
		looked := func() (whole, unchanged int) {
			for _, event := range recorder.Events(debug.Filter{}).Events {
				switch event.Type {
				case debug.TypeObserved:
					whole++
				case debug.TypeUnchanged:
					unchanged++
				}
			}
			return whole, unchanged
		}
		whole, skipped := looked() // A key that came back while the Application settled may have found nothing new, too.
		pass(25 * time.Minute)
		if now, unchanged := looked(); now != whole || unchanged != skipped+2 {
			w.Errorf("two resyncs at rest made %d whole syncs and found %d times nothing new", now-whole, unchanged-skipped)
		}
		// As if an object were new whose event queued nobody.
		w.controller.memory.noteQuiet(key("web"), 1, time.Now(), 0)
		pass(10 * time.Minute)
		if now, unchanged := looked(); now != whole+1 || unchanged != skipped+2 {
			w.Errorf("a resync of what looks otherwise made %d whole syncs and found %d times nothing new", now-whole, unchanged-skipped-2)
		}
		pass(10 * time.Minute)
		if now, unchanged := looked(); now != whole+1 || unchanged != skipped+3 {
			w.Errorf("the next one made %d whole syncs and found %d times nothing new", now-whole-1, unchanged-skipped-2)
		}
	})
}

// An Application that is there when the controller starts, with all its children, is left alone.
func TestRestartWritesNothing(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Second)
		w.pods("web", 1)
		pass(time.Minute)
		w.end()
		version := w.server.Version()
		w.start()
		pass(time.Minute)
		if got := w.server.Version(); got != version {
			w.Errorf("%d changes by the restart", got-version)
		}
		// The second time it may be a child that was listed first.
		if got := len(w.log.find("Synced", `Listed"`)); got < 2 {
			w.Errorf("synced %d times by lists, want once for each start: %q", got, w.log.find("Synced"))
		}
	})
}
