// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
)

// A status that was computed from an older version is written if only metadata changed since. Over another
// status, or about another spec or object, it is not.
func TestStatusOfAnOlderVersion(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(w *world)
		written bool
	}{
		"nothing changed": {func(*world) {}, true},
		"a label": {func(w *world) {
			w.edit("web", func(a *v1.Application) { a.Labels = map[string]string{"team": "shop"} })
		}, true},
		"the status": {func(w *world) {
			applytest.EditStatus(w.server, applytest.Applications, namespace, "web", func(a *v1.Application) { a.Status.Revision.LastHealthy = 7 })
		}, false},
		"the spec": {func(w *world) { w.edit("web", func(a *v1.Application) { a.Spec.Image = "web:2" }) }, false},
		"the object": {func(w *world) {
			again := w.application("web")
			w.server.Delete(applytest.Applications, namespace, "web")
			again.UID, again.ResourceVersion = "", ""
			applytest.Put(w.server, applytest.Applications, again)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, setup{begin: withApplications(application("web"))}, func(w *world) {
				pass(time.Minute)
				// From here on the controller itself writes nothing.
				w.edit("web", func(a *v1.Application) { a.Spec.ReconcilePolicy = v1.ReconcileSuspend })
				pass(time.Minute)
				old := w.application("web")
				test.change(w)
				before := w.application("web").Status
				next := *old.Status.DeepCopy()
				next.Image = "newer"
				err := w.controller.writeStatus(w.Context(), old, next, writeNow)
				after := w.application("web").Status
				switch {
				case test.written && (err != nil || after.Image != "newer"):
					w.Errorf("not written: %v, %+v", err, after)
				case !test.written && (!apierrors.IsConflict(err) || after.Image == "newer"):
					w.Errorf("written over a newer version: %v, %+v, was %+v", err, after, before)
				}
			})
		})
	}
}
