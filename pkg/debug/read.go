// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"
)

const (
	snapshotEvents  = 200
	snapshotFailing = 100
)

// Snapshot returns the state of the whole pipeline.
func (r *Recorder) Snapshot() Snapshot {
	resources := r.describeResources()
	queue := r.queueState(0)
	events := r.Events(Filter{Limit: snapshotEvents})
	now := time.Now()
	snapshot := Snapshot{
		Version: Version, Instance: r.instance, Time: now.UTC(), Started: r.started.UTC(), Sequence: events.Sequence,
		Working: queue.Working, Viewers: int(r.viewers.Load()),
		Resources: resources, Queue: queue.Counts, Failing: r.failingKeys(), Events: events.Events,
	}
	r.mu.Lock()
	snapshot.Oldest = r.oldest()
	for i, id := range Stages() {
		snapshot.Stages = append(snapshot.Stages, r.tallies[i].stage(id, now.UnixNano()))
	}
	r.mu.Unlock()
	r.addDepths(snapshot.Stages, resources, queue.Counts)
	return snapshot
}

// addDepths adds the depths of the stages, which their sources know.
func (r *Recorder) addDepths(stages []Stage, resources []Resource, queue QueueCounts) {
	depth := func(at stage, n int64) { stages[at].Depth = &n }
	var open, queued, objects int64
	for _, rr := range r.all() {
		rr.mu.Lock()
		open += rr.state.watchesOpen
		rr.mu.Unlock()
	}
	for _, resource := range resources {
		queued += resource.FIFO
		objects += int64(resource.Objects)
	}
	depth(watching, open)
	depth(fifo, queued)
	depth(store, objects)
	depth(queueing, int64(queue.Ready))
	depth(working, int64(queue.Processing))
	workers := int64(queue.Workers)
	stages[working].Limit = &workers
	// Only events from the FIFO change the cache.
	stages[store].Total, stages[store].Rate = stages[fifo].Total, stages[fifo].Rate
}

// oldest returns the sequence from which on the recorder has all events.
func (r *Recorder) oldest() uint64 { return max(r.routine.lost, r.notable.lost) + 1 }

// Events returns the recorded events that match.
func (r *Recorder) Events(filter Filter) EventList {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := EventList{Version: Version, Instance: r.instance, Time: time.Now().UTC(), Sequence: r.sequence}
	list.Truncated = filter.Since+1 < r.oldest()
	var found []*record
	for _, ring := range []*ring{&r.routine, &r.notable} {
		fit := 0
		ring.newest(func(rec *record) bool {
			if rec.sequence <= filter.Since {
				return false
			}
			if rec.matches(filter) {
				fit++
				if filter.Limit > 0 && fit > filter.Limit {
					list.Truncated = true
					return false
				}
				found = append(found, rec)
			}
			return true
		})
	}
	slices.SortFunc(found, func(a, b *record) int { return cmp.Compare(a.sequence, b.sequence) })
	if filter.Limit > 0 && len(found) > filter.Limit {
		list.Truncated = true
		found = found[len(found)-filter.Limit:]
	}
	list.Events = make([]Event, 0, len(found))
	for _, rec := range found {
		list.Events = append(list.Events, rec.event())
	}
	return list
}

// failingKeys returns the keys whose last sync did not succeed, those with the most failures first.
func (r *Recorder) failingKeys() []Key {
	r.mu.Lock()
	keys := make([]Key, 0, len(r.failing))
	for name, f := range r.failing {
		keys = append(keys, Key{
			Name: Name(name), State: KeyIdle, Failures: int(f.failures), Verdict: f.verdict, Error: f.problem, LastSync: optionalTime(f.at),
		})
	}
	r.mu.Unlock()
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Or(cmp.Compare(b.Failures, a.Failures), byName(a, b)) })
	if len(keys) > snapshotFailing {
		keys = keys[:snapshotFailing]
	}
	state := r.queueState(queueScan)
	positions := state.byKey()
	for i := range keys {
		keys[i].place(positions)
	}
	return keys
}

// queueScan is how many keys of the queue are searched for the state of some.
const queueScan = 20_000

func byName(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name.Name, b.Name.Name))
}

func (s *QueueState) byKey() map[Name]Key {
	positions := make(map[Name]Key, len(s.Delayed)+len(s.Ready)+len(s.Processing))
	// A key may be both delayed and queued for another reason. The latter counts.
	for _, keys := range [][]Key{s.Delayed, s.Ready, s.Processing} {
		for _, key := range keys {
			positions[key.Name] = key
		}
	}
	return positions
}

// place adds what the queue knows about the key.
func (k *Key) place(positions map[Name]Key) {
	position, found := positions[k.Name]
	if !found {
		k.State = KeyIdle
		return
	}
	k.State, k.Trigger, k.Since, k.Deadline, k.Due = position.State, position.Trigger, position.Since, position.Deadline, position.Due
}

func (r *Recorder) queueState(limit int) QueueState {
	r.sources.Lock()
	source := r.queue
	r.sources.Unlock()
	if source == nil {
		return QueueState{}
	}
	return source(limit)
}

// Queue returns the queue, key by key.
func (r *Recorder) Queue(limit int) Queue {
	state := r.queueState(limit)
	return Queue{
		Version: Version, Instance: r.instance, Time: time.Now().UTC(), Counts: state.Counts,
		Ready: notNil(state.Ready), Processing: notNil(state.Processing), Delayed: notNil(state.Delayed),
	}
}

// notNil returns an empty slice for nil, because JSON distinguishes them.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (r *Recorder) all() []*ResourceRecorder {
	r.sources.Lock()
	defer r.sources.Unlock()
	return slices.Clone(r.resources)
}

func (r *Recorder) describeResources() []Resource {
	all := r.all()
	resources := make([]Resource, 0, len(all))
	for _, rr := range all {
		resources = append(resources, rr.resource(r.indexerOf(rr)))
	}
	return resources
}

func (r *Recorder) indexerOf(rr *ResourceRecorder) cache.Indexer {
	r.sources.Lock()
	defer r.sources.Unlock()
	return rr.indexer
}
