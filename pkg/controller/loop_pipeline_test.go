// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
)

func (w *world) timeline(name string) debug.Timeline {
	w.Helper()
	timeline, found := w.setup.pipeline.Timeline(debug.Name{Namespace: namespace, Name: name})
	if !found {
		w.Fatalf("nothing is known about %s", name)
	}
	return timeline
}

// short is an event in a few words.
func short(event debug.Event) string {
	var words []string
	for _, word := range []string{string(event.Stage), string(event.Type), event.Resource, event.Verb, event.Reason, event.Result} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// The way of a new Application, from the watch event to the writes and the outcome.
func TestPipelineOfACreation(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New()}, func(w *world) {
		pass(0)
		applytest.Put(w.server, applytest.Applications, application("web"))
		pass(0)
		timeline := w.timeline("web")
		first := timeline.Syncs[0]
		var got []string
		for _, event := range timeline.Events {
			if event.Sync == first.ID || event.Sequence < first.ID {
				got = append(got, short(event))
			}
		}
		want := []string{
			"watch WatchEvent applications.apps.fairlead.dev ADDED",
			"handler Handled applications.apps.fairlead.dev Added",
			"queue Enqueued ApplicationAdded",
			"worker Started ApplicationAdded",
			"observe Observed",
			"consistency Fresh",
			"render Rendered",
			"plan Step serviceaccounts it does not exist Create",
			"plan Step controllerrevisions.apps it does not exist Create",
			"plan Step deployments.apps it does not exist Create",
			"plan Step services it does not exist Create",
			"plan Planned",
			"apply Wrote serviceaccounts create Success",
			"apply Wrote controllerrevisions.apps create Success",
			"apply Wrote deployments.apps create Success",
			"apply Wrote services create Success",
		}
		if diff := cmp.Diff(want, got[:min(len(want), len(got))]); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		end := []string{
			"status Status Deferred",
			"outcome Synced Succeeded",
			"queue Delayed look again",
		}
		if diff := cmp.Diff(end, got[min(len(want), len(got)):]); diff != "" {
			t.Errorf("it ends with (-want +got):\n%s", diff)
		}
		stages := make([]debug.StageID, 0, len(first.Stages))
		for _, stage := range first.Stages {
			stages = append(stages, stage.Stage)
		}
		if want := debug.Stages()[6:12]; !slices.Equal(stages, want) || first.Next == nil {
			t.Errorf("its stages are %v, want %v; the next is at %v", stages, want, first.Next)
		}
		if first.Steps != 4 || first.Writes < 4 || first.Verdict != "Succeeded" || first.Took == nil || first.Trigger != "ApplicationAdded" {
			t.Errorf("the sync is summed up as %+v", first)
		}

		// What is deferred is written soon: in the stage status, which counts how it ended and not the write too.
		pass(2 * time.Second)
		got = nil
		ends := uint64(0)
		for _, event := range w.setup.pipeline.Events(debug.Filter{Stage: debug.StageStatus}).Events {
			got = append(got, short(event))
			if event.Type == debug.TypeStatus {
				ends++
			}
		}
		want = []string{
			"status Status Deferred", "status Wrote applications.apps.fairlead.dev/status update Success", "status Status Written", "status Status Unchanged",
		}
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			t.Errorf("the stage status (-want +got):\n%s", diff)
		}
		stage := w.setup.pipeline.Snapshot().Stages[slices.Index(debug.Stages(), debug.StageStatus)]
		if stage.ID != debug.StageStatus || stage.Total != ends {
			t.Errorf("%d ends of the stage status are told as %+v", ends, stage)
		}

		// An edit, while somebody looks: what it changed is told by its path.
		defer w.setup.pipeline.Viewing()()
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		pass(0)
		events := w.timeline("web").Events
		handled := slices.IndexFunc(events, func(e debug.Event) bool { return slices.Contains(e.Fields, ".spec.image") })
		stepped := slices.IndexFunc(events, func(e debug.Event) bool { return e.Type == debug.TypeStep && e.Result == "Apply" })
		if handled < 0 || events[handled].Type != debug.TypeHandled || stepped < handled {
			t.Fatalf("the edit is event %d, its step %d", handled, stepped)
		}
		if fields := events[stepped].Fields; !slices.Contains(fields, `.spec.template.spec.containers[name="web"].image`) {
			t.Errorf("the step is for %q", fields)
		}
	})
}

// The informers of all kinds of children are recorded, that of the history too.
func TestPipelineOfEveryKind(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New()}, func(w *world) {
		pass(0)
		applytest.Put(w.server, applytest.Applications, application("web"))
		pass(time.Minute)
		resources := w.setup.pipeline.Caches().Resources
		for _, kind := range child.Kinds() {
			name := kind.GroupVersionResource().GroupResource().String()
			if !slices.ContainsFunc(resources, func(r debug.Resource) bool { return r.Resource == name && r.Lists == 1 }) {
				t.Errorf("%s is not recorded", name)
			}
		}
		var got []string
		for _, event := range w.timeline("web").Events {
			// A sync may begin before the cache has what the last one wrote.
			if event.Resource == "controllerrevisions.apps" && event.Type != debug.TypeStale {
				got = append(got, short(event))
			}
		}
		want := []string{
			"plan Step controllerrevisions.apps it does not exist Create",
			"apply Wrote controllerrevisions.apps create Success",
			"watch WatchEvent controllerrevisions.apps ADDED",
			"handler Handled controllerrevisions.apps Added",
		}
		slices.Sort(want) // The event may come before the answer.
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of the history is told (-want +got):\n%s", diff)
		}
	})
}

// A key that fails shows how often, and when it comes back.
func TestPipelineOfAFailure(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New()}, func(w *world) {
		pass(0)
		permit := w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "create" && r.Kind == child.Deployment {
				return apierrors.NewForbidden(r.Kind.GroupVersionResource().GroupResource(), r.Name, nil)
			}
			return nil
		})
		applytest.Put(w.server, applytest.Applications, application("web"))
		pass(time.Second)
		failing := w.setup.pipeline.Snapshot().Failing
		if len(failing) != 1 || failing[0].Name != (debug.Name{Namespace: namespace, Name: "web"}) || failing[0].State != debug.KeyDelayed ||
			failing[0].Verdict != "Blocked" || failing[0].Error != "Forbidden (403) of deployments.apps" || failing[0].Failures < 3 {
			t.Errorf("failing is %+v", failing)
		}
		var last time.Duration
		retries := 0
		for _, event := range w.timeline("web").Events {
			if event.Type != debug.TypeRetrying {
				continue
			}
			retries++
			if event.Failures == 1 {
				last = 0
			}
			if sync := w.timeline("web").Syncs[retries-1]; event.Sync != sync.ID || !event.Due.Equal(*sync.Next) {
				t.Errorf("retry %d is of sync %d, which is %+v", retries, event.Sync, sync)
			}
			wait := event.Due.Sub(event.Time)
			if event.Failures != retries || wait <= last {
				t.Errorf("retry %d counts %d failures, and waits %s after %s", retries, event.Failures, wait, last)
			}
			last = wait
		}
		permit()
		pass(time.Minute)
		if failing := w.setup.pipeline.Snapshot().Failing; len(failing) != 0 {
			t.Errorf("failing is still %+v", failing)
		}
	})
}

// A key that somebody else's object blocks says whose that is.
func TestPipelineOfAForeignObject(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New(), begin: func(s *applytest.Server) {
		applytest.Put(s, child.Service, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}})
		applytest.Put(s, applytest.Applications, application("web"))
	}}, func(w *world) {
		pass(time.Minute)
		const want = "Service web exists and does not belong to the Application; let the Application adopt it (spec.adoptionPolicy), which keeps its address, delete it if nothing needs it, or give the Application another name"
		failing := w.setup.pipeline.Snapshot().Failing
		if len(failing) != 1 || failing[0].Verdict != "Blocked" || failing[0].Error != want {
			t.Errorf("failing is %+v", failing)
		}
		syncs := w.timeline("web").Syncs
		if last := syncs[len(syncs)-1]; last.Error != want {
			t.Errorf("the last sync is %+v", last)
		}
	})
}

// A watch that ends by 410 Gone, and the list after it.
func TestPipelineOfAnExpiredWatch(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New(), begin: withApplications(application("web"))}, func(w *world) {
		pass(time.Minute)
		w.server.HoldWatch(child.Deployment)
		w.pods("web", 1)
		w.server.ExpireWatch(child.Deployment)
		pass(time.Minute)
		for _, resource := range w.setup.pipeline.Caches().Resources {
			if resource.Resource == "deployments.apps" && (resource.Expired != 1 || resource.Lists != 2 || resource.Objects != 1 || resource.State != "Watching") {
				t.Errorf("it is told as %+v", resource)
			}
		}
		ended := w.setup.pipeline.Events(debug.Filter{Type: debug.TypeWatchEnded, Resource: "deployments.apps"}).Events
		if len(ended) != 1 || ended[0].Error != "Expired (410)" {
			t.Errorf("the end of the watch is %+v", ended)
		}
	})
}

// Where a key is: worked on and queued again, ready, delayed.
func TestPipelineOfTheQueue(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New()}, func(w *world) {
		pass(0)
		held := make(chan struct{})
		w.server.Intercept(func(_ context.Context, r applytest.Request) error {
			if r.Verb == "create" && r.Kind == child.ServiceAccount && r.Name == "web" {
				<-held
			}
			return nil
		})
		applytest.Put(w.server, applytest.Applications, application("web"))
		pass(0)
		w.edit("web", func(a *v1.Application) { a.Spec.Image = "registry.example.com/web:2" })
		applytest.Put(w.server, applytest.Applications, application("cart"))
		pass(0)
		queue := w.setup.pipeline.Queue(10)
		want := debug.QueueCounts{Ready: 1, Processing: 1, Dirty: 1, Workers: 1}
		if diff := cmp.Diff(want, queue.Counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
		if queue.Ready[0].Name.Name != "cart" || queue.Ready[0].Trigger != "ApplicationAdded" || queue.Processing[0].State != debug.KeyDirty {
			t.Errorf("the queue is %+v", queue)
		}
		close(held)
		pass(100 * time.Millisecond)
		if delayed := w.setup.pipeline.Queue(10).Delayed; len(delayed) != 2 || !delayed[0].Due.After(time.Now()) {
			t.Errorf("delayed is %+v", delayed)
		}
	})
}

// The recorder changes nothing: the same requests, and none at rest.
func TestPipelineAsksNothing(t *testing.T) {
	requests := func(recorder *debug.Recorder) (counted int) {
		inWorld(t, setup{pipeline: recorder, begin: withApplications(application("web"), application("cart"))}, func(w *world) {
			pass(time.Minute)
			w.pods("web", 1)
			w.pods("cart", 1)
			pass(time.Minute)
			counted = w.count(func(applytest.Request) bool { return true })
			pass(time.Hour)
			if now := w.count(func(applytest.Request) bool { return true }); now != counted {
				t.Errorf("at rest there were %d requests", now-counted)
			}
		})
		return counted
	}
	if with, without := requests(debug.New()), requests(nil); with != without {
		t.Errorf("%d requests with a recorder, %d without", with, without)
	}
}

// The key of a deleted Application goes once its last sync was shown; its timeline stays.
func TestPipelineForgetsDeletedKeys(t *testing.T) {
	inWorld(t, setup{pipeline: debug.New(), begin: withApplications(application("web"), application("api"))}, func(w *world) {
		names := func() (names []string) {
			for _, key := range w.setup.pipeline.Keys(debug.KeyFilter{}).Keys {
				names = append(names, key.Name.Name)
			}
			return names
		}
		pass(time.Minute)
		w.server.Delete(applytest.Applications, namespace, "web")
		pass(time.Second)
		if got := names(); !slices.Equal(got, []string{"api", "web"}) {
			t.Errorf("just after the last sync the keys are %q", got)
		}
		pass(time.Minute)
		if got := names(); !slices.Equal(got, []string{"api"}) {
			t.Errorf("later the keys are %q", got)
		}
		if timeline := w.timeline("web"); len(timeline.Syncs) == 0 {
			t.Error("the timeline of the deleted Application is empty")
		}
	})
}
