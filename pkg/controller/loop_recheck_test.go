// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// The garbage collector's work is seen before the end of the Application. None of it is undone.
func TestChildrenGoBeforeTheApplication(t *testing.T) {
	for _, test := range []struct {
		name   string
		delete func(w *world)
		left   int
	}{
		{"deleted", func(w *world) {
			w.server.Delete(applytest.Applications, namespace, "web")
			w.server.CollectGarbage()
		}, 0},
		{"orphaned", func(w *world) {
			// The finalizer is the garbage collector's own, and holds the Application meanwhile.
			w.edit("web", func(a *v1.Application) { a.Finalizers = []string{metav1.FinalizerOrphanDependents} })
			w.server.Delete(applytest.Applications, namespace, "web")
			applytest.Edit(w.server, child.ServiceAccount, namespace, "web", func(s *corev1.ServiceAccount) { s.OwnerReferences = nil })
		}, 1},
		{"replaced", func(w *world) {
			w.server.Delete(applytest.Applications, namespace, "web")
			w.server.CollectGarbage()
			another := application("web")
			another.Spec.ReconcilePolicy = v1.ReconcileSuspend
			applytest.Put(w.server, applytest.Applications, another)
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
				pass(5 * time.Second)
				w.server.HoldWatch(applytest.Applications)
				before := w.count(applytest.Request.Writes)
				test.delete(w)
				pass(time.Minute)
				if got := w.count(applytest.Request.Writes) - before; got > 0 {
					t.Errorf("%d writes for an Application that is going", got)
				}
				if got := len(w.server.All(child.ServiceAccount)); got != test.left {
					t.Errorf("%d ServiceAccounts are left, want %d", got, test.left)
				}
				w.server.ReleaseWatch(applytest.Applications)
				pass(time.Minute)
			})
		})
	}
}

// A new leader whose cache shows an older spec than the former leader acted on neither restores it nor deletes what the
// present spec asks for.
func TestNewLeaderWithAnOlderSpec(t *testing.T) {
	for name, older := range map[string]func(*v1.Application){
		"an image":   func(a *v1.Application) { a.Spec.Image = "web:2" },
		"the number": func(a *v1.Application) { a.Spec.Replicas = new(int32(3)) },
		"no Service": func(a *v1.Application) { a.Spec.Ports = nil },
		"paused":     func(a *v1.Application) { a.Spec.Paused = new(true) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
				pass(time.Minute)
				w.end()
				spec := w.application("web").Spec
				w.edit("web", older)
				elected := make(chan struct{})
				w.startUnder(elected)
				pass(time.Minute)
				w.server.HoldWatch(applytest.Applications)
				w.edit("web", func(a *v1.Application) { a.Spec = spec })
				before := w.count(toChildren)
				close(elected)
				pass(time.Minute)
				w.server.ReleaseWatch(applytest.Applications)
				pass(time.Minute)
				if got := w.server.Requests(toChildren)[before:]; len(got) > 0 {
					t.Errorf("%d writes of what the present spec does not ask for, first %s %s", len(got), got[0].Verb, got[0].Kind.Kind)
				}
			})
		})
	}
}

// A delete that was held up is not retried by a cache that has not seen that the spec asks for the child again.
func TestDeleteLooksAtThePresentSpec(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(5 * time.Second)
		permit := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "delete" && r.Kind == child.Service {
				return errors.New("the connection broke")
			}
			return nil
		})
		w.edit("web", func(a *v1.Application) { a.Spec.Ports = nil })
		pass(5 * time.Second)
		w.server.HoldWatch(applytest.Applications)
		w.edit("web", func(a *v1.Application) { a.Spec.Ports = application("web").Spec.Ports })
		permit()
		pass(time.Minute)
		w.server.ReleaseWatch(applytest.Applications)
		pass(time.Minute)
		if got := w.server.UIDs(child.Service, namespace, "web"); len(got) != 1 || len(w.server.All(child.Service)) != 1 {
			t.Errorf("the Services were %v; there are %v", got, w.server.All(child.Service))
		}
	})
}

// Only the first change after a start costs a read. A new Application, and what follows, cost none.
func TestChangesNeedNoRead(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		reads := func() int {
			return w.count(func(r applytest.Request) bool { return r.Verb == "get" && r.Kind == applytest.Applications })
		}
		edit := func(image string) {
			w.edit("web", func(a *v1.Application) { a.Spec.Image = image })
			pass(time.Minute)
			if got := w.image("web"); got != image {
				t.Errorf("the Deployment runs %s, want %s", got, image)
			}
		}
		pass(time.Minute)
		edit("web:2")
		edit("web:3")
		if got := reads(); got != 0 {
			t.Errorf("%d reads for a new Application and two changes", got)
		}
		w.end()
		w.start()
		pass(time.Minute)
		if got := reads(); got != 0 {
			t.Errorf("%d reads for a restart", got)
		}
		edit("web:4")
		edit("web:5")
		if got := reads(); got != 1 {
			t.Errorf("%d reads for two changes after a restart, want 1", got)
		}
	})
}

// Without an answer nothing is repaired yet.
func TestRepairWaitsForTheAnswer(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		pass(5 * time.Second)
		answer := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "get" && r.Kind == applytest.Applications {
				return errors.New("the connection broke")
			}
			return nil
		})
		w.server.Delete(child.ServiceAccount, namespace, "web")
		pass(time.Minute)
		if len(w.server.All(child.ServiceAccount)) != 0 {
			t.Error("the ServiceAccount was made again without an answer")
		}
		answer()
		pass(time.Minute)
		if len(w.server.All(child.ServiceAccount)) != 1 {
			t.Error("the ServiceAccount was not made again")
		}
	})
}
