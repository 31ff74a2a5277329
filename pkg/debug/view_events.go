// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import "time"

// Name is that of an object, or the key of an Application.
type Name struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// EventType says what happened. Which stage it belongs to is in Event.Stage.
type EventType string

// The types of events, by stage.
const (
	// Of watch. Listed: a list was answered, or failed. WatchStarted: a watch was opened, or refused.
	// WatchEvent: it brought an object. Bookmark: it brought a resourceVersion only. InitialEventsEnd: a
	// streaming watch has brought all that there is. WatchEnded: Reason says why. Requested: the HTTP
	// side of a list or watch, with its status code, and with its bytes when it has ended.
	TypeListed           EventType = "Listed"
	TypeWatchStarted     EventType = "WatchStarted"
	TypeWatchEvent       EventType = "WatchEvent"
	TypeBookmark         EventType = "Bookmark"
	TypeInitialEventsEnd EventType = "InitialEventsEnd"
	TypeWatchEnded       EventType = "WatchEnded"
	TypeRequested        EventType = "Requested"
	// Of handler. Handled: a handler was called with a change that concerns the key.
	TypeHandled EventType = "Handled"
	// Of queue. Enqueued: the key is ready, or dirty if it is worked on. Delayed: it comes back by itself
	// at Due, because its sync wanted to look again, or, without a Sync, because of an event that more may
	// follow. Retrying: the same after a failure.
	TypeEnqueued EventType = "Enqueued"
	TypeDelayed  EventType = "Delayed"
	TypeRetrying EventType = "Retrying"
	// Of worker. Started: a worker took the key.
	TypeStarted EventType = "Started"
	// Of the stages of a sync. A stage that a sync does not reach has no event.
	TypeObserved  EventType = "Observed"  // observe; Count is the children in the caches
	TypeUnchanged EventType = "Unchanged" // observe; nothing is new since the Application came to rest
	TypeNotFound  EventType = "NotFound"  // observe; the Application does not exist any more
	TypeFresh     EventType = "Fresh"     // consistency
	TypeStale     EventType = "Stale"     // consistency; Resource is the cache that is behind
	TypeRendered  EventType = "Rendered"  // render; Count is the children that should be
	TypePlanned   EventType = "Planned"   // plan; Count is the steps that change something
	TypeStep      EventType = "Step"      // plan; one child: Result is the action, Reason why, Fields what differs
	TypeWrote     EventType = "Wrote"     // apply; one request, whatever came of it
	TypeStatus    EventType = "Status"    // status; Result is Written, Unchanged, Deferred or Failed
	TypeSynced    EventType = "Synced"    // outcome; Result is the verdict
)

// Event is one thing that happened.
type Event struct {
	// Sequence counts all events of an instance. There are gaps where older events were dropped.
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
	Stage    StageID   `json:"stage"`
	Type     EventType `json:"type"`
	// Key is the Application that it concerns, as far as that is known.
	Key *Name `json:"key,omitempty"`
	// Sync is the Sequence of the Started event of the sync that it belongs to.
	Sync uint64 `json:"sync,omitempty"`
	// Resource and Object are what it happened to, as in "deployments.apps" and its name.
	Resource string `json:"resource,omitempty"`
	Object   *Name  `json:"object,omitempty"`
	// Reason is the cause: of WatchEvent the type of event (ADDED, MODIFIED, DELETED), of Handled what
	// happened (Added, Listed, Updated, Deleted, Resynced), of Enqueued and Started the trigger, kind
	// and event (DeploymentUpdated), of Step and others a sentence.
	Reason string `json:"reason,omitempty"`
	// Result is what came of it: a verdict, an action, Success, or a reason of the API server such as Conflict.
	Result string `json:"result,omitempty"`
	// Error says what went wrong: reason, status code and paths of fields, or a sentence that quotes no
	// value. The log has the whole message, which may.
	Error string `json:"error,omitempty"`
	// OldResourceVersion and ResourceVersion are before and after; of a list or watch what was asked for
	// and what came.
	OldResourceVersion string `json:"oldResourceVersion,omitempty"`
	ResourceVersion    string `json:"resourceVersion,omitempty"`
	// Fields are the paths that changed or differ, at most 20, without values.
	Fields []string `json:"fields,omitempty"`
	// Verb is that of a request: list, watch, create, apply, patch, update, delete, get.
	Verb string `json:"verb,omitempty"`
	// Code is the HTTP status code; Bytes the length of the body of the answer.
	Code  int   `json:"code,omitempty"`
	Bytes int64 `json:"bytes,omitempty"`
	// Count is a number of objects or steps; see the types.
	Count int `json:"count,omitempty"`
	// Failures is how often in a row the key has failed.
	Failures int `json:"failures,omitempty"`
	// Milliseconds is how long it took: of Started the wait in the queue, of Handled since the watch event
	// arrived, of Synced the whole sync.
	Milliseconds float64 `json:"milliseconds,omitempty"`
	// Due is when a delayed key comes back; of Enqueued the deadline that orders it.
	Due *time.Time `json:"due,omitempty"`
}

// EventList is a part of what is held.
type EventList struct {
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	Sequence uint64    `json:"sequence"`
	// Truncated tells that older events that fit were dropped, or are more than the limit.
	Truncated bool `json:"truncated"`
	// Events are oldest first.
	Events []Event `json:"events"`
}

// KeyState is where a key is.
type KeyState string

// The states of a key.
const (
	// KeyReady waits for a worker.
	KeyReady KeyState = "Ready"
	// KeyProcessing is worked on.
	KeyProcessing KeyState = "Processing"
	// KeyDirty is worked on, and was queued again meanwhile.
	KeyDirty KeyState = "Dirty"
	// KeyDelayed waits for its time, and for events.
	KeyDelayed KeyState = "Delayed"
	// KeyIdle waits for events.
	KeyIdle KeyState = "Idle"
)

// Key is one Application and how far the queue is with it.
type Key struct {
	Name
	State KeyState `json:"state"`
	// Trigger is why it was queued, or is worked on: kind and event, as in DeploymentUpdated.
	Trigger string `json:"trigger,omitempty"`
	// Since is when it came into its state, where that is known.
	Since *time.Time `json:"since,omitempty"`
	// Deadline orders the ready keys: the earliest goes first.
	Deadline *time.Time `json:"deadline,omitempty"`
	// Due is when a delayed key comes back by itself.
	Due *time.Time `json:"due,omitempty"`
	// Failures is how often in a row it failed; Verdict, Error and LastSync are of its last sync that is held.
	Failures int        `json:"failures,omitempty"`
	Verdict  string     `json:"verdict,omitempty"`
	Error    string     `json:"error,omitempty"`
	LastSync *time.Time `json:"lastSync,omitempty"`
	// Syncs is how many of its syncs are held.
	Syncs int `json:"syncs,omitempty"`
}

// KeyList are keys: failing ones first, then those in the queue, then the others by name.
type KeyList struct {
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	// Total is how many fit, of which Keys may be only the first.
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

// Timeline is what is held about one key.
type Timeline struct {
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	Sequence uint64    `json:"sequence"`
	Key      Key       `json:"key"`
	// Truncated tells that older events were dropped.
	Truncated bool `json:"truncated"`
	// Syncs sum the events of each sync up, oldest first.
	Syncs []Sync `json:"syncs"`
	// Events are oldest first.
	Events []Event `json:"events"`
}

// Sync is one sync of a key. Its events have its ID.
type Sync struct {
	ID      uint64    `json:"id"`
	Started time.Time `json:"started"`
	Trigger string    `json:"trigger,omitempty"`
	// Waited is how long the key was ready before, Took how long the sync took; it is missing while the sync runs.
	Waited float64  `json:"waitedMilliseconds"`
	Took   *float64 `json:"tookMilliseconds,omitempty"`
	// Stages are the times spent in each stage that the sync reached, in order.
	Stages []StageTime `json:"stages"`
	// Steps is how many children were to be changed, Writes how many requests that took, status included.
	Steps  int `json:"steps"`
	Writes int `json:"writes"`
	// Status is what became of the status.
	Status  string     `json:"status,omitempty"`
	Verdict string     `json:"verdict,omitempty"`
	Error   string     `json:"error,omitempty"`
	Next    *time.Time `json:"next,omitempty"`
}

// StageTime is the time that a sync spent in a stage.
type StageTime struct {
	Stage        StageID `json:"stage"`
	Milliseconds float64 `json:"milliseconds"`
}
