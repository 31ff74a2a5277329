// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/tools/cache"
)

const (
	// routineRecords and notableRecords are how many events are kept: of those that there are all the time,
	// and of those that are worth more: requests, writes, and syncs that did not settle. Together they
	// take about 5 MB.
	routineRecords = 16 << 10
	notableRecords = 4 << 10
	// maxFailing is how many failing keys are known at once.
	maxFailing = 1000
)

// Recorder records. All its methods may be called at any time, by anybody; those of a nil Recorder do
// nothing, so that who calls them need not ask whether somebody wants to know.
type Recorder struct {
	instance string
	started  time.Time
	viewers  atomic.Int32

	// mu is held for the time of a copy, and by readers for that of a walk through the rings.
	mu       sync.Mutex
	sequence uint64
	routine  ring
	notable  ring
	tallies  [stageCount]*tally
	failing  map[cache.ObjectName]failure

	// sources guards what is set while the controller is put together.
	sources   sync.Mutex
	resources []*ResourceRecorder
	queue     QueueSource
}

// failure is the last sync of a key, if that did not settle.
type failure struct {
	at               int64
	failures         int32
	verdict, problem string
}

// QueueSource tells what is in the queue: at most limit keys of each kind, and how many there are. It is
// called when somebody asks.
type QueueSource func(limit int) QueueState

// QueueState is what a QueueSource tells; see Queue.
type QueueState struct {
	Working                    bool
	Counts                     QueueCounts
	Ready, Processing, Delayed []Key
}

// New makes a Recorder.
func New() *Recorder {
	r := &Recorder{
		instance: rand.String(12), started: time.Now(),
		routine: newRing(routineRecords), notable: newRing(notableRecords),
		failing: map[cache.ObjectName]failure{},
	}
	for i := range r.tallies {
		r.tallies[i] = newTally()
	}
	return r
}

// SetQueue says whom to ask about the queue.
func (r *Recorder) SetQueue(source QueueSource) {
	if r == nil {
		return
	}
	r.sources.Lock()
	defer r.sources.Unlock()
	r.queue = source
}

// Viewing says that somebody looks, until end is called. What is too expensive to be recorded always is
// recorded meanwhile.
func (r *Recorder) Viewing() (end func()) {
	r.viewers.Add(1)
	return sync.OnceFunc(func() { r.viewers.Add(-1) })
}

func (r *Recorder) viewed() bool { return r.viewers.Load() > 0 }

// add keeps a record and counts it under the label, if its stage counts such events.
func (r *Recorder) add(rec *record, into *ring, counted bool, label string) uint64 {
	r.mu.Lock()
	r.sequence++
	rec.sequence = r.sequence
	if rec.kind == TypeStarted {
		rec.sync = r.sequence // It begins the sync that is called after it.
	}
	into.put(rec)
	if counted {
		r.tallies[rec.stage].add(label, rec.at, rec.took)
	}
	sequence := r.sequence
	r.mu.Unlock()
	return sequence
}

// count counts what is not kept.
func (r *Recorder) count(at stage, label string, took time.Duration) {
	now := time.Now().UnixNano()
	r.mu.Lock()
	r.tallies[at].add(label, now, int64(took))
	r.mu.Unlock()
}

// Enqueued records that a key was queued because something happened to an object of a kind. The deadline
// orders it among the others.
func (r *Recorder) Enqueued(key cache.ObjectName, kind, happened string, at, deadline time.Time) {
	if r == nil {
		return
	}
	rec := record{at: at.UnixNano(), stage: queueing, kind: TypeEnqueued, key: key, reason: kind, happened: happened, due: deadline.UnixNano()}
	r.add(&rec, &r.routine, true, happened)
}

// Delayed records that a key comes back by itself, as the sync of that ID arranged; 0: none did, but an event.
func (r *Recorder) Delayed(key cache.ObjectName, syncID uint64, reason string, due time.Time) {
	if r == nil {
		return
	}
	rec := record{at: time.Now().UnixNano(), stage: queueing, kind: TypeDelayed, key: key, sync: syncID, reason: reason, due: due.UnixNano()}
	r.add(&rec, &r.routine, false, "")
}

// Retrying records that a key comes back because it did not settle, for how many times now; syncID is as in Delayed.
func (r *Recorder) Retrying(key cache.ObjectName, syncID uint64, failures int, due time.Time) {
	if r == nil {
		return
	}
	rec := record{
		at: time.Now().UnixNano(), stage: queueing, kind: TypeRetrying, key: key, sync: syncID,
		reason: "back off after a failure", fails: int32(failures), due: due.UnixNano(),
	}
	r.add(&rec, &r.notable, false, "")
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, found := r.failing[key]; found {
		f.failures = int32(failures)
		r.failing[key] = f
	}
}
