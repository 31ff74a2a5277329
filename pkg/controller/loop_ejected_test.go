// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// A user ejected an Application, and creates another one of its name. The status names the Deployment too, although it would wait for the
// ServiceAccount anyway.
func TestApplicationOfTheNameOfAnEjectedOne(t *testing.T) {
	const advice = "or give the Application another name."
	for name, test := range map[string]struct {
		deployment           bool
		ready, reason, about string
	}{
		"with its Deployment": {
			true, "ServiceAccount web and 2 more exist and do not belong to the Application; name the ServiceAccount in spec.serviceAccount.name if that is allowed, let the Application adopt what it can (spec.adoptionPolicy), see status.resources for what to do about each, " + advice + " Checked again within 30 s.",
			v1.ReasonConflict, "Deployment web exists and does not belong to the Application; let the Application adopt it (spec.adoptionPolicy), which replaces no pod until you say so, delete it with --cascade=orphan, which keeps its pods, " + advice,
		},
		"without": {
			false, "ServiceAccount web and 1 more exist and do not belong to the Application; name the ServiceAccount in spec.serviceAccount.name if that is allowed, let the Application adopt what it can (spec.adoptionPolicy), see status.resources for what to do about each, " + advice + " Waiting for them: Deployment web. Checked again within 30 s.",
			v1.ReasonDeploymentNotFound, "The Application has no Deployment.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			bare := metav1.ObjectMeta{Namespace: namespace, Name: "web"}
			begin := func(s *applytest.Server) {
				applytest.Put(s, child.ServiceAccount, &corev1.ServiceAccount{ObjectMeta: bare})
				applytest.Put(s, child.Service, &corev1.Service{ObjectMeta: bare})
				if test.deployment {
					applytest.Put(s, child.Deployment, &appsv1.Deployment{ObjectMeta: bare})
				}
				withApplications(application("web"))(s)
			}
			inWorld(t, setup{begin: begin}, func(w *world) {
				pass(5 * time.Second)
				conditions := w.application("web").Status.Conditions
				if got := meta.FindStatusCondition(conditions, v1.ConditionReady); got.Message != test.ready {
					t.Errorf("Ready says %q, want %q", got.Message, test.ready)
				}
				if got := meta.FindStatusCondition(conditions, v1.ConditionAvailable); got.Reason != test.reason || got.Message != test.about {
					t.Errorf("Available says %s, %q, want %s, %q", got.Reason, got.Message, test.reason, test.about)
				}
			})
		})
	}
}
