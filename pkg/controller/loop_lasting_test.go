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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// warnings are the Warnings since the last call.
func (w *world) warnings() []string {
	return slices.DeleteFunc(w.told(), func(event string) bool { return !strings.HasPrefix(event, corev1.EventTypeWarning) })
}

// A webhook that gives no answer keeps a child from being written. After two minutes, the
// status and one Event ask a user to act, also if another replica leads by then. Both end with the answer.
func TestUnansweredWebhookStalls(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		w.serves("web")
		answer := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Kind == child.Service && r.Writes() {
				return apierrors.NewInternalError(errors.New(`failed calling webhook "names.example.com": connection refused`))
			}
			return nil
		})
		w.edit("web", func(a *v1.Application) { a.Spec.Ports[0].ContainerPort = 8081 })
		pass(time.Second)
		w.serves("web")
		pass(50 * time.Second)
		w.wantCondition("web", v1.ConditionReconciling, metav1.ConditionTrue, v1.ReasonApplyFailed)
		if got := w.warnings(); len(got) > 0 {
			w.Errorf("too early: %q", got)
		}
		w.end()
		w.start()
		pass(106 * time.Second) // A retry comes within 36 s.
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonApplyFailed)
		w.end()
		want := `Warning ApplyFailed Service web: Internal error occurred: failed calling webhook "names.example.com": connection refused.`
		if got := w.warnings(); len(got) != 1 || got[0] != want {
			w.Errorf("Events %q, want %q", got, want)
		}
		w.start()
		pass(time.Hour)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonApplyFailed)
		if got := w.warnings(); len(got) > 0 {
			w.Errorf("again: %q", got)
		}
		answer()
		pass(36 * time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
	})
}

// A finalizer holds a child that a user deleted. No event says that five minutes are over.
func TestHeldChildStalls(t *testing.T) {
	inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
		w.serves("web")
		w.told()
		applytest.Edit(w.server, child.Service, namespace, "web", func(s *corev1.Service) { s.Finalizers = []string{"example.com/hold"} })
		w.server.Delete(child.Service, namespace, "web")
		pass(4*time.Minute + 50*time.Second)
		w.wantCondition("web", v1.ConditionReconciling, metav1.ConditionTrue, v1.ReasonApplying)
		if got := w.warnings(); len(got) > 0 {
			w.Errorf("too early: %q", got)
		}
		pass(20 * time.Second)
		w.wantCondition("web", v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonApplying)
		pass(time.Hour)
		want := "Warning Applying Service web: Terminating until its controller removes the finalizer example.com/hold; will then be recreated."
		if got := w.warnings(); len(got) != 1 || got[0] != want {
			w.Errorf("Events %q, want %q", got, want)
		}
		applytest.Edit(w.server, child.Service, namespace, "web", func(s *corev1.Service) { s.Finalizers = nil })
		pass(5 * time.Second)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
	})
}
