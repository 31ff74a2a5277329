// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
)

// Another client strips every annotation from the Deployment of a rolled back Application, before or after a
// restart: what failed does not roll out again.
func TestStrippedMark(t *testing.T) {
	for _, restart := range []bool{false, true} {
		inWorld(t, setup{begin: withApplications(reverting("web"))}, func(w *world) {
			w.serves("web")
			w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" })
			pass(time.Second)
			w.fails("web")
			pass(time.Second)
			w.serves("web")
			if restart {
				w.end()
			}
			applytest.Edit(w.server, child.Deployment, namespace, "web", func(d *appsv1.Deployment) { d.Annotations = nil })
			if restart {
				w.start()
			}
			for range 20 {
				pass(time.Second)
				if got := w.image("web"); got != "registry.example.com/web:1" {
					w.Fatalf("restart %t: the Deployment runs %s", restart, got)
				}
			}
			if w.deployment("web").Annotations[v1.AnnotationRolledBackFrom] == "" {
				w.Errorf("restart %t: the mark is not put back", restart)
			}
			w.wantCondition("web", v1.ConditionRolledBack, metav1.ConditionTrue, v1.ReasonRolledBack)
			w.wantRevision("web", v1.RevisionStatus{Current: 1, LastHealthy: 1, RolledBackFrom: 2})
		})
	}
}
