// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
)

// A policy of the cluster refuses the status. Its message is an Event, once in a while, and the Application recovers.
func TestRefusedStatus(t *testing.T) {
	var refusing atomic.Bool
	inWorld(t, setup{begin: func(s *applytest.Server) {
		applytest.Put(s, applytest.Applications, application("web"))
		s.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.OnStatus() && r.Writes() && refusing.Load() {
				return &apierrors.StatusError{ErrStatus: metav1.Status{
					Reason: metav1.StatusReasonInvalid, Code: 422,
					Message: "ValidatingAdmissionPolicy 'freeze' with binding 'freeze' denied request: no status today",
				}}
			}
			return nil
		})
	}}, func(w *world) {
		const want = "Warning StatusRefused The API server refuses the status of the Application, which shows an earlier state: " +
			"ValidatingAdmissionPolicy 'freeze' with binding 'freeze' denied request: no status today."
		refused := func() (n int) {
			for _, event := range w.told() {
				if strings.HasPrefix(event, want) {
					n++
				} else if strings.Contains(event, v1.EventStatusRefused) {
					w.Errorf("the Event is %s", event)
				}
			}
			return n
		}
		pass(time.Second)
		refusing.Store(true)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" })
		pass(20 * time.Minute)
		if n := refused(); n != 1 {
			w.Errorf("%d Events in the first minutes", n)
		}
		pass(20 * time.Minute)
		if n := refused(); n != 1 {
			w.Errorf("%d Events half an hour later", n)
		}
		refusing.Store(false)
		pass(time.Minute)
		w.pods("web", 1)
		pass(time.Minute)
		w.wantCondition("web", v1.ConditionReady, metav1.ConditionTrue, v1.ReasonReady)
		if n := refused(); n != 0 {
			w.Errorf("%d Events after the status was accepted", n)
		}
		refusing.Store(true)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:3" })
		pass(time.Minute)
		if n := refused(); n != 1 {
			w.Errorf("%d Events when it is refused again", n)
		}
	})
}
