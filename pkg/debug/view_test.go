// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGoldenViews holds the JSON: testdata has an example of each answer, for who reads it elsewhere.
func TestGoldenViews(t *testing.T) {
	for _, test := range []struct {
		file string
		view any
	}{
		{"snapshot.json", exampleSnapshot()},
		{"delta.json", exampleDelta()},
		{"timeline.json", exampleTimeline()},
		{"queue.json", exampleQueue()},
		{"cache.json", exampleCache()},
	} {
		t.Run(test.file, func(t *testing.T) {
			got, err := json.MarshalIndent(test.view, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", test.file)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs; what is served is a contract, see Version (-want +got):\n%s", file, cmp.Diff(string(want), string(got)))
			}
		})
	}
}

var exampleTime = time.Date(2026, time.May, 4, 9, 30, 0, 0, time.UTC)

func exampleAt(after time.Duration) time.Time { return exampleTime.Add(after) }

const exampleInstance = "5f0c9d1e7a42"

var exampleKey = &Name{Namespace: "shop", Name: "web"}

// exampleEvents are the way of one edit: the watch event, the queue, the sync, its writes, its outcome.
func exampleEvents() []Event {
	const deployments, applications = "deployments.apps", "applications.apps.fairlead.dev"
	sync := func(sequence uint64, after time.Duration, stage StageID, kind EventType, took float64) Event {
		return Event{Sequence: sequence, Time: exampleAt(after), Stage: stage, Type: kind, Key: exampleKey, Sync: 205, Milliseconds: took}
	}
	observed := sync(206, 1300*time.Microsecond, StageObserve, TypeObserved, 0.02)
	observed.Count = 6
	rendered := sync(208, 1700*time.Microsecond, StageRender, TypeRendered, 0.31)
	rendered.Count = 6
	planned := sync(210, 2100*time.Microsecond, StagePlan, TypePlanned, 0.38)
	planned.Count = 1
	step := sync(209, 2100*time.Microsecond, StagePlan, TypeStep, 0)
	step.Resource, step.Object, step.Result, step.Reason = deployments, exampleKey, "Apply", "the Application changed"
	step.Fields = []string{`.metadata.annotations.apps.fairlead.dev/rendered-hash`, `.spec.template.spec.containers[name="web"].image`}
	wrote := sync(211, 9*time.Millisecond, StageApply, TypeWrote, 6.8)
	wrote.Resource, wrote.Object, wrote.Verb, wrote.Code, wrote.Result = deployments, exampleKey, "apply", 200, "Success"
	wrote.OldResourceVersion, wrote.ResourceVersion = "1811", "1840"
	status := sync(213, 14*time.Millisecond, StageStatus, TypeStatus, 4.9)
	status.Result = "Written"
	statusWrite := sync(212, 14*time.Millisecond, StageStatus, TypeWrote, 4.7)
	statusWrite.Resource, statusWrite.Object, statusWrite.Verb, statusWrite.Code, statusWrite.Result = applications+"/status", exampleKey, "update", 200, "Success"
	statusWrite.ResourceVersion = "1841"
	synced := sync(214, 14100*time.Microsecond, StageOutcome, TypeSynced, 13.1)
	synced.Result = "Succeeded"
	delayed := sync(215, 14100*time.Microsecond, StageQueue, TypeDelayed, 0)
	delayed.Reason, delayed.Due = "look again", new(exampleAt(10*time.Minute))
	started := sync(205, time.Millisecond, StageWorker, TypeStarted, 0.1)
	started.Reason, started.TraceID = "ApplicationUpdated", "4bf92f3577b34da6a3ce929d0e0e4736"
	return []Event{
		{
			Sequence: 202, Time: exampleAt(0), Stage: StageWatch, Type: TypeWatchEvent, Key: exampleKey,
			Resource: applications, Object: exampleKey, Reason: "MODIFIED", ResourceVersion: "1838",
		},
		{
			Sequence: 203, Time: exampleAt(850 * time.Microsecond), Stage: StageHandler, Type: TypeHandled, Key: exampleKey,
			Resource: applications, Object: exampleKey, Reason: "Updated", OldResourceVersion: "1815", ResourceVersion: "1838",
			Fields: []string{".metadata.generation", ".spec.image"}, Milliseconds: 0.85,
		},
		{
			Sequence: 204, Time: exampleAt(900 * time.Microsecond), Stage: StageQueue, Type: TypeEnqueued, Key: exampleKey,
			Reason: "ApplicationUpdated", Due: new(exampleAt(900 * time.Microsecond)),
		},
		started,
		observed,
		sync(207, 1390*time.Microsecond, StageConsistency, TypeFresh, 0.01),
		rendered, step, planned, wrote, statusWrite, status, synced, delayed,
	}
}

func exampleFailing() Key {
	return Key{
		Name: Name{Namespace: "shop", Name: "broken"}, State: KeyDelayed, Due: new(exampleAt(3 * time.Second)), Failures: 5, Verdict: "Blocked",
		Error: "Forbidden (403): create deployments.apps", LastSync: new(exampleAt(-time.Second)), Syncs: 5,
	}
}

func exampleStages() []Stage {
	stages := make([]Stage, 0, len(Stages()))
	for _, id := range Stages() {
		stage := Stage{ID: id, Total: 120, Rate: 4.2, Latency: &Latency{Median: 0.2, P99: 1.5, Max: 4.1}}
		switch id {
		case StageWatch:
			stage.Depth, stage.Latency = new(int64(12)), nil
			stage.Counts = []Count{{Label: "ADDED", Total: 40, Rate: 0}, {Label: "MODIFIED", Total: 80, Rate: 4.2}}
		case StageFIFO, StageStore, StageQueue:
			stage.Depth = new(int64(3))
		case StageWorker:
			stage.Depth, stage.Limit = new(int64(2)), new(int64(16))
		case StageApply:
			stage.Counts = []Count{{Label: "apply", Total: 20, Rate: 1.2}, {Label: "create", Total: 100, Rate: 3}}
		case StageStatus:
			stage.Counts = []Count{{Label: "Unchanged", Total: 90, Rate: 4}, {Label: "Written", Total: 30, Rate: 0.2}}
		case StageOutcome:
			stage.Counts = []Count{{Label: "Blocked", Total: 5, Rate: 0.2}, {Label: "Succeeded", Total: 115, Rate: 4}}
		}
		stages = append(stages, stage)
	}
	return stages
}

func exampleResource() Resource {
	return Resource{
		Resource: "deployments.apps", Role: "children", State: "Watching", Objects: 41, ResourceVersion: "1840", Watches: 2, Streaming: 1, Expired: 1,
		Bookmarks: 7, Events: 310, Bytes: 915_233, Since: new(exampleAt(-4 * time.Minute)), LastEvent: new(exampleAt(0)),
		Indexes: []string{"application", "namespace"},
	}
}

func exampleSnapshot() Snapshot {
	return Snapshot{
		Version: Version, Instance: exampleInstance, Time: exampleAt(time.Second), Started: exampleAt(-time.Hour), Sequence: 215, Oldest: 1, Working: true, Viewers: 1,
		Stages: exampleStages(), Resources: []Resource{exampleResource()},
		Queue:   QueueCounts{Ready: 3, Processing: 2, Dirty: 1, Delayed: 9, Workers: 16},
		Failing: []Key{exampleFailing()}, Events: exampleEvents(),
	}
}

func exampleDelta() Delta {
	return Delta{
		Time: exampleAt(2 * time.Second), Sequence: 215, Working: true, Events: exampleEvents()[:1], Stages: exampleStages(),
		Resources: []Resource{exampleResource()}, Queue: &QueueCounts{Ready: 3, Workers: 16}, Failing: &[]Key{exampleFailing()},
	}
}

func exampleTimeline() Timeline {
	return Timeline{
		Version: Version, Instance: exampleInstance, Time: exampleAt(time.Second), Sequence: 215,
		Key: Key{Name: *exampleKey, State: KeyDelayed, Due: new(exampleAt(10 * time.Minute)), Verdict: "Succeeded", LastSync: new(exampleAt(14 * time.Millisecond)), Syncs: 1},
		Syncs: []Sync{{
			ID: 205, Started: exampleAt(time.Millisecond), Trigger: "ApplicationUpdated", Waited: 0.1, Took: new(13.1),
			Stages: []StageTime{
				{StageObserve, 0.02}, {StageConsistency, 0.01}, {StageRender, 0.31}, {StagePlan, 0.38}, {StageApply, 6.8}, {StageStatus, 4.9},
			},
			Steps: 1, Writes: 2, Status: "Written", Verdict: "Succeeded", Next: new(exampleAt(10 * time.Minute)),
			TraceID: exampleEvents()[3].TraceID,
		}},
		Events: exampleEvents(),
	}
}

func exampleQueue() Queue {
	return Queue{
		Version: Version, Instance: exampleInstance, Time: exampleAt(0), Counts: QueueCounts{Ready: 1, Processing: 1, Dirty: 1, Delayed: 1, Workers: 16},
		Ready:      []Key{{Name: Name{"shop", "cart"}, State: KeyReady, Trigger: "ApplicationListed", Deadline: new(exampleAt(30 * time.Second))}},
		Processing: []Key{{Name: *exampleKey, State: KeyDirty, Trigger: "DeploymentUpdated", Since: new(exampleAt(-time.Millisecond))}},
		Delayed:    []Key{exampleFailing()},
	}
}

func exampleCache() CachePage {
	return CachePage{
		Version: Version, Instance: exampleInstance, Time: exampleAt(0), Resource: "deployments.apps", Index: "application", Value: "shop/web", Total: 1,
		Objects: []CachedObject{{
			Name: *exampleKey, UID: "0b6c9f2e-54f2-4a0c-9a63-0d9f6c7c1b11", ResourceVersion: "1840", Generation: 2, Created: new(exampleAt(-time.Hour)), Key: exampleKey,
			Indexed: map[string][]string{"application": {"shop/web"}, "namespace": {"shop"}},
		}},
	}
}
