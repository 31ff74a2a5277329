// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// record is an event as the ring stores it. It shares the caller's strings. Readers compose what must be composed, so
// that recording allocates nothing.
type record struct {
	sequence, sync uint64
	at             int64 // nanoseconds since 1970
	took           int64 // nanoseconds
	due            int64 // nanoseconds since 1970; 0: none
	bytes          int64
	key, object    cache.ObjectName
	stage          stage
	kind           EventType
	resource       string
	// reason is followed by happened, as in Deployment and Updated.
	reason, happened    string
	result, problem     string
	verb                string
	oldVersion, version string
	traceID             string
	fields              []string
	code, count, fails  int32
}

// stage is the position of a StageID in Stages.
type stage uint8

const (
	watching stage = iota
	fifo
	store
	handling
	queueing
	working
	observing
	checking
	rendering
	planning
	applying
	reporting
	ending
	stageCount
)

// ring keeps the newest records.
type ring struct {
	records []record
	next    int
	full    bool
	// lost is the sequence of the newest record that was overwritten.
	lost uint64
}

func newRing(size int) ring { return ring{records: make([]record, size)} }

func (r *ring) put(rec *record) {
	slot := &r.records[r.next]
	if r.full {
		r.lost = slot.sequence
	}
	*slot = *rec
	r.next++
	if r.next == len(r.records) {
		r.next, r.full = 0, true
	}
}

// newest calls visit for the records, newest first, until it returns false.
func (r *ring) newest(visit func(*record) bool) {
	held := r.next
	if r.full {
		held = len(r.records)
	}
	for i := range held {
		position := r.next - 1 - i
		if position < 0 {
			position += len(r.records)
		}
		if !visit(&r.records[position]) {
			return
		}
	}
}

// event returns the record as JSON shows it.
func (rec *record) event() Event {
	return Event{
		Sequence: rec.sequence, Time: timeOf(rec.at), Stage: Stages()[rec.stage], Type: rec.kind, Key: nameOf(rec.key), Sync: rec.sync,
		Resource: rec.resource, Object: nameOf(rec.object), Reason: rec.reason + rec.happened, Result: rec.result, Error: rec.problem,
		OldResourceVersion: rec.oldVersion, ResourceVersion: rec.version, Fields: rec.fields, Verb: rec.verb, Code: int(rec.code),
		Bytes: rec.bytes, Count: int(rec.count), Failures: int(rec.fails), Milliseconds: milliseconds(rec.took), Due: optionalTime(rec.due),
		TraceID: rec.traceID,
	}
}

func (rec *record) matches(filter Filter) bool {
	return (filter.Namespace == "" || rec.key.Namespace == filter.Namespace) &&
		(filter.Name == "" || rec.key.Name == filter.Name) &&
		(filter.Stage == "" || Stages()[rec.stage] == filter.Stage) &&
		(filter.Type == "" || rec.kind == filter.Type) &&
		(filter.Resource == "" || rec.resource == filter.Resource)
}

func timeOf(nanoseconds int64) time.Time { return time.Unix(0, nanoseconds).UTC() }

func optionalTime(nanoseconds int64) *time.Time {
	if nanoseconds == 0 {
		return nil
	}
	at := timeOf(nanoseconds)
	return &at
}

func optionalTimeOf(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return optionalTime(at.UnixNano())
}

func nameOf(name cache.ObjectName) *Name {
	if name.Name == "" {
		return nil
	}
	return &Name{Namespace: name.Namespace, Name: name.Name}
}

func milliseconds(nanoseconds int64) float64 {
	const perMillisecond = float64(time.Millisecond)
	return float64(nanoseconds) / perMillisecond
}
