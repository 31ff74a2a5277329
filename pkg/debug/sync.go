// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"context"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"
)

// SyncRecorder records one sync. Only the worker of the sync uses it. A nil SyncRecorder records nothing.
type SyncRecorder struct {
	recorder *Recorder
	key      cache.ObjectName
	id       uint64
	started  time.Time
	// since is when the present stage began.
	since time.Time
}

// Started records that a worker took a key, how long the key was ready, and why it was queued. traceID is the ID of the
// OpenTelemetry trace of the sync, or "".
func (r *Recorder) Started(key cache.ObjectName, kind, happened string, ready time.Time, traceID string) *SyncRecorder {
	if r == nil {
		return nil
	}
	now := time.Now()
	rec := record{at: now.UnixNano(), stage: working, kind: TypeStarted, key: key, reason: kind, happened: happened, traceID: traceID}
	if !ready.IsZero() {
		rec.took = int64(now.Sub(ready))
	}
	id := r.add(&rec, &r.routine, true, "")
	return &SyncRecorder{recorder: r, key: key, id: id, started: now, since: now}
}

// ID is the sequence of the Started event.
func (s *SyncRecorder) ID() uint64 { return s.id }

// stage ends a stage, which began where the last one ended.
func (s *SyncRecorder) stage(at stage, kind EventType, count int) {
	if s == nil {
		return
	}
	now := time.Now()
	rec := record{at: now.UnixNano(), took: int64(now.Sub(s.since)), stage: at, kind: kind, key: s.key, sync: s.id, count: int32(count)}
	s.since = now
	s.recorder.add(&rec, &s.recorder.routine, true, "")
}

// Observed ends the stage observe, which found an Application with that many children.
func (s *SyncRecorder) Observed(children int) { s.stage(observing, TypeObserved, children) }

// Unchanged ends the stage observe of a sync that found everything as the last successful sync left it.
func (s *SyncRecorder) Unchanged() { s.stage(observing, TypeUnchanged, 0) }

// NotFound ends the stage observe, which found no Application.
func (s *SyncRecorder) NotFound() { s.stage(observing, TypeNotFound, 0) }

// Fresh ends the stage consistency: the caches have observed our last writes.
func (s *SyncRecorder) Fresh() { s.stage(checking, TypeFresh, 0) }

// Stale ends the stage consistency: the cache of a resource has not observed our last write.
func (s *SyncRecorder) Stale(resource string) {
	if s == nil {
		return
	}
	now := time.Now()
	rec := record{at: now.UnixNano(), took: int64(now.Sub(s.since)), stage: checking, kind: TypeStale, key: s.key, sync: s.id, resource: resource}
	s.since = now
	s.recorder.add(&rec, &s.recorder.routine, true, string(TypeStale))
}

// Rendered ends the stage render, with the number of children.
func (s *SyncRecorder) Rendered(children int) { s.stage(rendering, TypeRendered, children) }

// Step records a planned step, unless it keeps the child.
func (s *SyncRecorder) Step(resource string, object cache.ObjectName, action, reason string, fields []string) {
	if s == nil {
		return
	}
	rec := record{
		at: time.Now().UnixNano(), stage: planning, kind: TypeStep, key: s.key, sync: s.id,
		resource: resource, object: object, result: action, reason: reason, fields: withoutValues(fields),
	}
	s.recorder.add(&rec, &s.recorder.notable, false, "")
}

// Planned ends the stage plan, with the number of children to change.
func (s *SyncRecorder) Planned(changes int) { s.stage(planning, TypePlanned, changes) }

// Status ends the stage status, with its result.
func (s *SyncRecorder) Status(result string, err error) {
	if s == nil {
		return
	}
	now := time.Now()
	rec := record{
		at: now.UnixNano(), took: int64(now.Sub(s.since)), stage: reporting, kind: TypeStatus, key: s.key, sync: s.id, result: result, problem: Cause(err),
	}
	s.since = now
	s.recorder.add(&rec, &s.recorder.routine, true, result)
}

// Applied ends the writes, which were recorded one by one.
func (s *SyncRecorder) Applied() {
	if s != nil {
		s.since = time.Now()
	}
}

// Synced ends the sync. failing means that the key did not succeed.
func (s *SyncRecorder) Synced(verdict string, failing bool, err error) {
	if s == nil {
		return
	}
	r := s.recorder
	now := time.Now()
	rec := record{at: now.UnixNano(), took: int64(now.Sub(s.started)), stage: ending, kind: TypeSynced, key: s.key, sync: s.id, result: verdict, problem: Cause(err)}
	into := &r.routine
	if failing {
		into = &r.notable
	}
	r.add(&rec, into, true, verdict)
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.failing[s.key]
	switch {
	case failing && (found || len(r.failing) < maxFailing):
		r.failing[s.key] = failure{at: rec.at, failures: known.failures, verdict: verdict, problem: rec.problem}
	case found && !failing:
		delete(r.failing, s.key)
	}
}

// syncContext is the key of a SyncRecorder in a context.
type syncContext struct{}

// Context returns a context whose requests belong to the sync; see Requested.
func (s *SyncRecorder) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, syncContext{}, s)
}

// SyncFrom returns the SyncRecorder of the context; nil if it has none.
func SyncFrom(ctx context.Context) *SyncRecorder {
	s, _ := ctx.Value(syncContext{}).(*SyncRecorder)
	return s
}

// Request is a request of a sync.
type Request struct {
	Verb     string
	Resource string
	Object   cache.ObjectName
	// Version is the resourceVersion in the response.
	Version string
	Began   time.Time
	Err     error
}

// Requested records a request that belongs to a sync; see SyncRecorder.Context.
func Requested(ctx context.Context, request Request) {
	s := SyncFrom(ctx)
	if s == nil {
		return
	}
	now := time.Now()
	at := applying
	if isStatus(request.Resource) {
		at = reporting
	}
	rec := record{
		at: now.UnixNano(), took: int64(now.Sub(request.Began)), stage: at, kind: TypeWrote, key: s.key, sync: s.id, resource: request.Resource,
		object: request.Object, verb: request.Verb, version: request.Version, code: int32(codeOf(request)), result: resultOf(request.Err), problem: Cause(request.Err),
	}
	// The stage status counts its results, which include the write.
	s.recorder.add(&rec, &s.recorder.notable, at == applying, request.Verb)
}

func isStatus(resource string) bool { return strings.HasSuffix(resource, "/status") }

// codeOf returns the status code of the response; 0 if there was none.
func codeOf(request Request) int {
	switch {
	case request.Err != nil:
		return statusCode(request.Err)
	case request.Verb == "create":
		return http.StatusCreated
	default:
		return http.StatusOK
	}
}
