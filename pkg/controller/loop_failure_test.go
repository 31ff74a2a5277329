// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

const healthy = 20

// oneBad begins with many Applications of which one, named bad, meets a failure at each write of
// a child until it is mended.
func oneBad(fail func() error) (s setup, mend func()) {
	var mended atomic.Bool
	return setup{workers: 2, begin: func(s *applytest.Server) {
		applytest.Put(s, applytest.Applications, application("bad"))
		for i := range healthy {
			applytest.Put(s, applytest.Applications, application(fmt.Sprintf("web-%d", i)))
		}
		s.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Name == "bad" && toChildren(r) && !mended.Load() {
				return fail()
			}
			return nil
		})
	}}, func() { mended.Store(true) }
}

func (w *world) wantHealthy() {
	w.Helper()
	for i := range healthy {
		if name := fmt.Sprintf("web-%d", i); w.deployment(name) == nil {
			w.Errorf("%s has no Deployment", name)
		}
	}
}

func createsDeployment(name string) func(applytest.Request) bool {
	return func(r applytest.Request) bool { return createOf(child.Deployment)(r) && r.Name == name }
}

func createsAccount(name string) func(applytest.Request) bool {
	return func(r applytest.Request) bool { return createOf(child.ServiceAccount)(r) && r.Name == name }
}

// One key that fails holds nobody up, is tried ever less often, and recovers.
func TestFailure(t *testing.T) {
	s, mend := oneBad(func() error { return errBroken })
	inWorld(t, s, func(w *world) {
		pass(10 * time.Millisecond)
		w.wantHealthy()
		pass(10 * time.Minute)
		w.wantCondition("bad", v1.ConditionReady, metav1.ConditionFalse, v1.ReasonApplyFailed)
		tries := w.count(createsAccount("bad"))
		// Ten doublings to 30 s, and then about 19 in ten minutes; the status that is written comes as an event.
		if tries < 20 || tries > 35 {
			w.Errorf("tried %d times in ten minutes", tries)
		}
		if got := w.count(statusOf("bad")); got > 2 {
			w.Errorf("status written %d times about one failure", got)
		}
		for _, line := range w.log.errors() {
			if !strings.Contains(line, `application="shop/bad"`) {
				w.Errorf("logged %s", line)
			}
		}
		mend()
		pass(36 * time.Second)
		if w.deployment("bad") == nil {
			w.Error("it did not recover")
		}
		w.pods("bad", 1)
		pass(time.Second)
		w.wantCondition("bad", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
	})
}

// A panic in a sync is a failure of its key.
func TestPanic(t *testing.T) {
	s, mend := oneBad(func() error { panic("a defect") })
	inWorld(t, s, func(w *world) {
		pass(10 * time.Second)
		w.wantHealthy()
		found := w.log.find("Sync failed", `application="shop/bad"`)
		if len(found) < 5 || found[0][0] != 'E' {
			w.Errorf("logged are %q", found)
		}
		if got := w.log.find("panic: a defect"); len(got) != len(found) {
			w.Errorf("the panic is logged %d times with %d failures", len(got), len(found))
		}
		if len(w.log.find("loop_failure_test.go")) == 0 {
			w.Error("the stack is not logged")
		}
		mend()
		pass(36 * time.Second)
		if w.deployment("bad") == nil {
			w.Error("it was not tried again")
		}
	})
}

// A busy API server says when to come back.
func TestRetryAfter(t *testing.T) {
	s, mend := oneBad(func() error { return errBusy })
	inWorld(t, s, func(w *world) {
		pass(6 * time.Second)
		w.wantHealthy()
		// The status that tells the failure comes as an event and causes one more try.
		early := w.count(createsAccount("bad"))
		if early > 3 {
			w.Errorf("tried %d times in 6 s, asked to come back after 7 s", early)
		}
		mend()
		pass(2 * time.Second)
		if w.deployment("bad") == nil {
			w.Error("it did not come back")
		}
	})
}

// Somebody else's object bears the name of a child: it is not touched, status says so, and when
// it is gone the child takes its place.
func TestForeignObject(t *testing.T) {
	inWorld(t, setup{begin: func(s *applytest.Server) {
		applytest.Put(s, child.Service, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}})
		applytest.Put(s, applytest.Applications, application("web"))
	}}, func(w *world) {
		pass(10 * time.Minute)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonConflict)
		if w.deployment("web") == nil {
			w.Error("the Service keeps the Deployment from being created")
		}
		if got := w.server.Changes(child.Service, namespace, "web"); got != 1 {
			w.Errorf("%d changes of the foreign object", got-1)
		}
		if failures := w.log.errors(); len(failures) > 0 {
			w.Errorf("a person has to act, which is no error: %q", failures)
		}
		w.server.Delete(child.Service, namespace, "web")
		pass(37 * time.Second)
		w.pods("web", 1)
		pass(time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
	})
}

// Two workers never have one key: what happens meanwhile comes after.
func TestOneSyncPerKey(t *testing.T) {
	inWorld(t, setup{workers: 4}, func(w *world) {
		entered, open := gate(w.server)
		applytest.Put(w.server, applytest.Applications, application("web"))
		<-entered
		for i := range 10 {
			w.edit("web", func(a *v1.Application) { a.Spec.Image = fmt.Sprintf("web:%d", i) })
			pass(time.Second)
		}
		before := len(w.log.find("Synced", `application="shop/web"`))
		applytest.Put(w.server, applytest.Applications, application("api"))
		pass(time.Second)
		if before != 0 || w.deployment("api") == nil || w.deployment("web") != nil {
			w.Errorf("%d syncs beside the one that is held; api is there: %t", before, w.deployment("api") != nil)
		}
		close(open)
		pass(10 * time.Second)
		if got := w.image("web"); got != "web:9" {
			w.Errorf("the Deployment runs %s", got)
		}
		if got := w.count(createsDeployment("web")); got != 1 {
			w.Errorf("%d Deployments created", got)
		}
	})
}
