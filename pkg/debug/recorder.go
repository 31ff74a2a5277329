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
	// routineRecords and notableRecords are the numbers of events to keep: of the frequent ones, and of the more
	// important ones, which are requests, writes, and syncs that did not succeed. Together they take about 5 MB.
	routineRecords = 16 << 10
	notableRecords = 4 << 10
	// maxFailing limits the number of failing keys to remember.
	maxFailing = 1000
)

// Recorder records what the controller does. It is safe for concurrent use. The methods of a nil Recorder do nothing, so
// callers need no check.
type Recorder struct {
	instance string
	started  time.Time
	viewers  atomic.Int32

	// mu is held while a record is copied, and by readers while they walk through the rings.
	mu       sync.Mutex
	sequence uint64
	routine  ring
	notable  ring
	tallies  [stageCount]*tally
	failing  map[cache.ObjectName]failure

	// sources guards the fields that are set while the controller is wired.
	sources   sync.Mutex
	resources []*ResourceRecorder
	queue     QueueSource
}

// failure is the last sync of a key that did not succeed.
type failure struct {
	at               int64
	failures         int32
	verdict, problem string
}

// QueueSource returns the state of the queue: at most limit keys of each kind, and how many there are. A request of a
// viewer calls it.
type QueueSource func(limit int) QueueState

// QueueState is the result of a QueueSource; see Queue.
type QueueState struct {
	Working                    bool
	Counts                     QueueCounts
	Ready, Processing, Delayed []Key
}

// New returns a Recorder.
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

// SetQueue sets the source of the queue's state.
func (r *Recorder) SetQueue(source QueueSource) {
	if r == nil {
		return
	}
	r.sources.Lock()
	defer r.sources.Unlock()
	r.queue = source
}

// Viewing begins a view, which ends when end is called. Meanwhile the recorder also records what is too expensive to
// record always.
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
		rec.sync = r.sequence // It begins the sync that has its sequence as ID.
	}
	into.put(rec)
	if counted {
		r.tallies[rec.stage].add(label, rec.at, rec.took)
	}
	sequence := r.sequence
	r.mu.Unlock()
	return sequence
}

// count counts an event that is not kept.
func (r *Recorder) count(at stage, label string, took time.Duration) {
	now := time.Now().UnixNano()
	r.mu.Lock()
	r.tallies[at].add(label, now, int64(took))
	r.mu.Unlock()
}

// Enqueued records that a key was queued because of an event of an object of a kind. The deadline orders the keys.
func (r *Recorder) Enqueued(key cache.ObjectName, kind, happened string, at, deadline time.Time) {
	if r == nil {
		return
	}
	rec := record{at: at.UnixNano(), stage: queueing, kind: TypeEnqueued, key: key, reason: kind, happened: happened, due: deadline.UnixNano()}
	r.add(&rec, &r.routine, true, happened)
}

// Delayed records that a key returns without an event, as the sync with that ID arranged. The ID is 0 if an event did.
func (r *Recorder) Delayed(key cache.ObjectName, syncID uint64, reason string, due time.Time) {
	if r == nil {
		return
	}
	rec := record{at: time.Now().UnixNano(), stage: queueing, kind: TypeDelayed, key: key, sync: syncID, reason: reason, due: due.UnixNano()}
	r.add(&rec, &r.routine, false, "")
}

// Retrying records that a key returns because it failed that many times; syncID is as in Delayed.
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
