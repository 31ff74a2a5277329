// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

// delaysSince are the delays of web that were recorded after the sequence, each with how long it is.
func (w *world) delaysSince(sequence uint64) (told []string, last debug.Event) {
	w.Helper()
	for _, event := range w.timeline("web").Events {
		if event.Sequence > sequence && (event.Type == debug.TypeDelayed || event.Type == debug.TypeRetrying) {
			told = append(told, string(event.Type)+" "+event.Reason+" "+event.Due.Sub(event.Time).String())
			last = event
		}
	}
	return told, last
}

// A change of a Secret delays a key that fails: that is no retry, and not by any sync.
func TestPipelineOfADelayByAReference(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New(), begin: withSecrets([]*corev1.Secret{secret("db", "one")}, using("web", "db"))}, func(w *world) {
		pass(time.Minute)
		w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "patch" && r.Kind == child.Deployment {
				return apierrors.NewForbidden(r.Kind.GroupVersionResource().GroupResource(), r.Name, nil)
			}
			return nil
		})
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(10 * time.Second)
		before := w.timeline("web")
		if before.Key.Failures < 3 {
			t.Fatalf("the key is %+v", before.Key)
		}
		w.setPassword("db", "two")
		pass(0)
		told, last := w.delaysSince(before.Sequence)
		if diff := cmp.Diff([]string{"Delayed more changes may follow " + debounceAfter.String()}, told); diff != "" {
			t.Errorf("the change of the Secret (-want +got):\n%s", diff)
		}
		if last.Sync != 0 {
			t.Errorf("it is told as the doing of sync %d", last.Sync)
		}
	})
}

// A delay that the API server asks for after a failure is a retry, although no back-off counts it.
func TestPipelineOfADelayByTheServer(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New(), begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Minute)
		before := w.timeline("web").Sequence
		busy := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "patch" && r.Kind == child.Deployment {
				return apierrors.NewTooManyRequests("busy", 7)
			}
			return nil
		})
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(0)
		busy()
		told, _ := w.delaysSince(before)
		if !slices.Contains(told, "Retrying back off after a failure 7s") || slices.Contains(told, "Delayed look again 7s") {
			t.Errorf("the answer of a busy API server is told as %q", told)
		}
	})
}
