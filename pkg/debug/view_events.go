// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import "time"

// Name names an object, or is the key of an Application.
type Name struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// EventType is the type of an event. Event.Stage has its stage.
type EventType string

// The types of events, by stage.
const (
	// Types of the watch stage. Listed: a list was answered, or failed. WatchStarted: a watch was opened, or refused.
	// WatchEvent: an object arrived. Bookmark: only a resourceVersion arrived. InitialEventsEnd: a streaming watch has
	// sent all existing objects. WatchEnded: Reason has the cause. Requested: the HTTP side of a list or watch, with its
	// status code, and at its end with its bytes.
	TypeListed           EventType = "Listed"
	TypeWatchStarted     EventType = "WatchStarted"
	TypeWatchEvent       EventType = "WatchEvent"
	TypeBookmark         EventType = "Bookmark"
	TypeInitialEventsEnd EventType = "InitialEventsEnd"
	TypeWatchEnded       EventType = "WatchEnded"
	TypeRequested        EventType = "Requested"
	// Types of the handler stage. Handled: a handler was called with a change that concerns the key.
	TypeHandled EventType = "Handled"
	// Types of the queue stage. Enqueued: the key is ready, or dirty if a worker processes it. Delayed: it returns at
	// Due, because its sync asked for it, or, without a Sync, because an event began a debounce. Retrying: it returns
	// after a failure.
	TypeEnqueued EventType = "Enqueued"
	TypeDelayed  EventType = "Delayed"
	TypeRetrying EventType = "Retrying"
	// Types of the worker stage. Started: a worker took the key.
	TypeStarted EventType = "Started"
	// Types of the stages of a sync. A stage that a sync does not reach has no event.
	TypeObserved  EventType = "Observed"  // observe; Count is the children in the caches
	TypeUnchanged EventType = "Unchanged" // observe; nothing changed since the last successful sync
	TypeNotFound  EventType = "NotFound"  // observe; the Application no longer exists
	TypeFresh     EventType = "Fresh"     // consistency
	TypeStale     EventType = "Stale"     // consistency; Resource is the stale cache
	TypeRendered  EventType = "Rendered"  // render; Count is the rendered children
	TypePlanned   EventType = "Planned"   // plan; Count is the steps that change something
	TypeStep      EventType = "Step"      // plan; one child: Result is the action, Reason why, Fields what differs
	TypeWrote     EventType = "Wrote"     // apply; one request, successful or not
	TypeStatus    EventType = "Status"    // status; Result is Written, Unchanged, Deferred or Failed
	TypeSynced    EventType = "Synced"    // outcome; Result is the verdict
)

// Event is one thing that happened.
type Event struct {
	// Sequence counts all events of an instance. It has gaps where older events were dropped.
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
	Stage    StageID   `json:"stage"`
	Type     EventType `json:"type"`
	// Key is the Application, if known.
	Key *Name `json:"key,omitempty"`
	// Sync is the Sequence of the Started event of the sync that it belongs to.
	Sync uint64 `json:"sync,omitempty"`
	// Resource and Object name the object, as in "deployments.apps" and its name.
	Resource string `json:"resource,omitempty"`
	Object   *Name  `json:"object,omitempty"`
	// Reason is the cause: for WatchEvent the type of event (ADDED, MODIFIED, DELETED), for Handled the change (Added,
	// Listed, Updated, Deleted, Resynced), for Enqueued and Started the trigger with kind and event (DeploymentUpdated),
	// for Step and others a sentence.
	Reason string `json:"reason,omitempty"`
	// Result is a verdict, an action, Success, or a reason of the API server such as Conflict.
	Result string `json:"result,omitempty"`
	// Error explains a failure: reason, status code and paths of fields, or a sentence that quotes no value. The log has
	// the whole message, which may quote values.
	Error string `json:"error,omitempty"`
	// OldResourceVersion and ResourceVersion are those before and after. For a list or watch they are the requested and
	// the returned one.
	OldResourceVersion string `json:"oldResourceVersion,omitempty"`
	ResourceVersion    string `json:"resourceVersion,omitempty"`
	// Fields are the paths that changed or differ, at most 20, without values.
	Fields []string `json:"fields,omitempty"`
	// Verb is the verb of a request: list, watch, create, apply, patch, update, delete, get.
	Verb string `json:"verb,omitempty"`
	// Code is the HTTP status code, Bytes the length of the response body.
	Code  int   `json:"code,omitempty"`
	Bytes int64 `json:"bytes,omitempty"`
	// Count is a number of objects or steps; see the types.
	Count int `json:"count,omitempty"`
	// Failures is the number of consecutive failures of the key.
	Failures int `json:"failures,omitempty"`
	// Milliseconds is the duration: for Started the wait in the queue, for Handled the time since the watch event
	// arrived, for Synced the whole sync.
	Milliseconds float64 `json:"milliseconds,omitempty"`
	// Due is when a delayed key returns. For Enqueued it is the deadline by which the queue orders keys.
	Due *time.Time `json:"due,omitempty"`
	// TraceID is, for Started, the ID of the OpenTelemetry trace of the sync, if the controller sends one.
	TraceID string `json:"traceID,omitempty"`
}

// EventList is a part of the recorded events.
type EventList struct {
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	Sequence uint64    `json:"sequence"`
	// Truncated means that older matching events were dropped, or exceed the limit.
	Truncated bool `json:"truncated"`
	// Events are oldest first.
	Events []Event `json:"events"`
}

// KeyState is the state of a key in the queue.
type KeyState string

// The states of a key.
const (
	// KeyReady waits for a worker.
	KeyReady KeyState = "Ready"
	// KeyProcessing has a worker.
	KeyProcessing KeyState = "Processing"
	// KeyDirty has a worker, and was queued again meanwhile.
	KeyDirty KeyState = "Dirty"
	// KeyDelayed waits for its time, and for events.
	KeyDelayed KeyState = "Delayed"
	// KeyIdle waits for events.
	KeyIdle KeyState = "Idle"
)

// Key is one Application and its state in the queue.
type Key struct {
	Name
	State KeyState `json:"state"`
	// Trigger is why the key was queued, or why a worker processes it: kind and event, as in DeploymentUpdated.
	Trigger string `json:"trigger,omitempty"`
	// Since is when the key entered its state, if known.
	Since *time.Time `json:"since,omitempty"`
	// Deadline orders the ready keys: the earliest goes first.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Due is when a delayed key returns without an event.
	Due *time.Time `json:"due,omitempty"`
	// Failures is the number of consecutive failures. Verdict, Error and LastSync describe the last recorded sync.
	Failures int        `json:"failures,omitempty"`
	Verdict  string     `json:"verdict,omitempty"`
	Error    string     `json:"error,omitempty"`
	LastSync *time.Time `json:"lastSync,omitempty"`
	// Syncs is the number of recorded syncs.
	Syncs int `json:"syncs,omitempty"`
}

// KeyList are keys: failing ones first, then queued ones, then the others by name.
type KeyList struct {
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	// Total is the number of matching keys, of which Keys may have only the first.
	Total int   `json:"total"`
	Keys  []Key `json:"keys"`
}

// Queue is the queue, key by key.
type Queue struct {
	Version  string      `json:"version"`
	Instance string      `json:"instance"`
	Time     time.Time   `json:"time"`
	Counts   QueueCounts `json:"counts"`
	// Ready are in the order in which workers take them, Delayed by Due, Processing by Since, each at
	// most the limit of the request. Dirty ones are among Processing.
	Ready      []Key `json:"ready"`
	Processing []Key `json:"processing"`
	Delayed    []Key `json:"delayed"`
}

// Timeline has all events of one key.
type Timeline struct {
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	Sequence uint64    `json:"sequence"`
	Key      Key       `json:"key"`
	// Truncated means that older events were dropped.
	Truncated bool `json:"truncated"`
	// Syncs summarize the events of each sync, oldest first.
	Syncs []Sync `json:"syncs"`
	// Events are oldest first.
	Events []Event `json:"events"`
}

// Sync is one sync of a key. Its events have its ID.
type Sync struct {
	ID      uint64    `json:"id"`
	Started time.Time `json:"started"`
	Trigger string    `json:"trigger,omitempty"`
	// Waited is how long the key was ready before the sync, Took how long the sync took. Took is absent while the sync
	// runs.
	Waited float64  `json:"waitedMilliseconds"`
	Took   *float64 `json:"tookMilliseconds,omitempty"`
	// Stages are the times spent in each stage that the sync reached, in order.
	Stages []StageTime `json:"stages"`
	// Steps is the number of children to change, Writes the number of write requests, status included.
	Steps  int `json:"steps"`
	Writes int `json:"writes"`
	// Status is the result of the stage status.
	Status  string     `json:"status,omitempty"`
	Verdict string     `json:"verdict,omitempty"`
	Error   string     `json:"error,omitempty"`
	Next    *time.Time `json:"next,omitempty"`
	// TraceID is the ID of the OpenTelemetry trace of the sync, if the controller sends one.
	TraceID string `json:"traceID,omitempty"`
}

// StageTime is the time that a sync spent in a stage.
type StageTime struct {
	Stage        StageID `json:"stage"`
	Milliseconds float64 `json:"milliseconds"`
}
