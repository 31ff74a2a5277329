// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// recordSync records what a change leads to that needs no write: one watch event, one call of a handler,
// one key, one sync.
func recordSync(r *Recorder, rr *ResourceRecorder, w *recordedWatch, before, after *corev1.ConfigMap) {
	w.record(watch.Event{Type: watch.Modified, Object: after})
	key := cache.ObjectName{Namespace: after.Namespace, Name: after.Name}
	rr.Handled(key, before, after, false)
	now := time.Now()
	r.Enqueued(key, "ConfigMap", "Updated", now, now)
	record := r.Started(key, "ConfigMap", "Updated", now, "")
	record.Observed(6)
	record.Fresh()
	record.Rendered(6)
	record.Planned(0)
	record.Applied()
	record.Status("Unchanged", nil)
	record.Synced("Succeeded", false, nil)
}

func newSyncFixture() (*Recorder, *ResourceRecorder, *recordedWatch, *corev1.ConfigMap, *corev1.ConfigMap) {
	r := New()
	rr := r.Resource(ResourceOptions{
		Resource: "configmaps", Role: "children",
		Key: func(o metav1.Object) cache.ObjectName {
			return cache.ObjectName{Namespace: o.GetNamespace(), Name: o.GetName()}
		},
	})
	before := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", ResourceVersion: "1"}}
	after := before.DeepCopy()
	after.ResourceVersion = "2"
	return r, rr, &recordedWatch{resource: rr}, before, after
}

// While the live view is closed, recording allocates nothing but the recorder of the sync.
func TestRecordingAllocatesLittle(t *testing.T) {
	r, rr, w, before, after := newSyncFixture()
	if allocations := testing.AllocsPerRun(1000, func() { recordSync(r, rr, w, before, after) }); allocations > 1 {
		t.Errorf("a sync allocates %v times", allocations)
	}
}

// What is kept does not grow with the number of Applications.
func TestBounded(t *testing.T) {
	r, rr, w, before, after := newSyncFixture()
	for i := range 5 * routineRecords / 11 {
		after.Name = fmt.Sprint("web-", i)
		recordSync(r, rr, w, before, after)
		key := cache.ObjectName{Namespace: "shop", Name: after.Name}
		record := r.Started(key, "ConfigMap", "Updated", time.Now(), "")
		record.Synced("Failed", true, fmt.Errorf("it is %s", after.Name))
		r.Retrying(key, record.ID(), 1, time.Now())
	}
	if held := len(r.routine.records) + len(r.notable.records); held != routineRecords+notableRecords || len(r.failing) > maxFailing {
		t.Errorf("%d events and %d failing keys are held", held, len(r.failing))
	}
	if size := unsafe.Sizeof(record{}) * (routineRecords + notableRecords); size > 8<<20 {
		t.Errorf("the rings take %d bytes", size)
	}
	snapshot := r.Snapshot()
	if snapshot.Oldest <= 1 || len(snapshot.Events) != snapshotEvents || len(snapshot.Failing) != snapshotFailing {
		t.Errorf("the snapshot has %d events from %d on, and %d failing keys", len(snapshot.Events), snapshot.Oldest, len(snapshot.Failing))
	}
	for _, failing := range snapshot.Failing {
		if failing.Error != "error; see the log" {
			t.Fatalf("a message is told: %s", failing.Error)
		}
	}
}

// A nil Recorder is one that nobody wants.
func TestNobodyWantsToKnow(t *testing.T) {
	var r *Recorder
	rr := r.Resource(ResourceOptions{})
	rr.SetCache(nil)
	object := &corev1.ConfigMap{}
	rr.Handled(cache.ObjectName{}, nil, object, false)
	if rr.ListerWatcher(nil) != nil || rr.Metrics() != nil || r.Transport(nil) != nil {
		t.Error("something is wrapped")
	}
	r.SetQueue(nil)
	r.Enqueued(cache.ObjectName{}, "", "", time.Time{}, time.Time{})
	r.Delayed(cache.ObjectName{}, 0, "", time.Time{})
	r.Retrying(cache.ObjectName{}, 0, 1, time.Time{})
	record := r.Started(cache.ObjectName{}, "", "", time.Time{}, "")
	record.NotFound()
	record.Stale("")
	record.Step("", cache.ObjectName{}, "", "", nil)
	record.Status("", nil)
	record.Synced("", true, nil)
	Requested(record.Context(t.Context()), Request{})
}

// BenchmarkRecord is what it costs to record one event while nobody looks.
func BenchmarkRecord(b *testing.B) {
	r, _, _, _, _ := newSyncFixture()
	key, now := cache.ObjectName{Namespace: "shop", Name: "web"}, time.Now()
	b.ReportAllocs()
	for b.Loop() {
		r.Enqueued(key, "Deployment", "Updated", now, now)
	}
}

// BenchmarkRecordSync is what it costs to record all events of a change that needs no write.
func BenchmarkRecordSync(b *testing.B) {
	r, rr, w, before, after := newSyncFixture()
	b.ReportAllocs()
	for b.Loop() {
		recordSync(r, rr, w, before, after)
	}
}

// BenchmarkRecordParallel has as many recording at once as there are processors.
func BenchmarkRecordParallel(b *testing.B) {
	r, _, _, _, _ := newSyncFixture()
	key, now := cache.ObjectName{Namespace: "shop", Name: "web"}, time.Now()
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			r.Enqueued(key, "Deployment", "Updated", now, now)
		}
	})
}
