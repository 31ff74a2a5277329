// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import "time"

// Version is that of the JSON, and part of every URL. Fields may be added to it; nothing is taken away
// or given another meaning.
const Version = "v1"

// Durations are in milliseconds, with fractions. Times are RFC 3339 with nanoseconds. What does not
// apply is left out.

// Snapshot is the whole pipeline at one moment.
type Snapshot struct {
	Version string `json:"version"`
	// Instance tells this run of the controller from others. Sequences of another instance mean nothing.
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	// Started is when the controller began to record.
	Started time.Time `json:"started"`
	// Sequence is that of the newest event; Oldest that of the oldest one that is still held.
	Sequence uint64 `json:"sequence"`
	Oldest   uint64 `json:"oldest"`
	// Working is false in a replica that does not lead: its caches and its queue fill, and nobody works.
	Working bool `json:"working"`
	// Viewers are the streams that are open. While there are any, events of changed objects have the
	// paths of the fields that changed.
	Viewers int `json:"viewers"`
	// Stages are in the order in which a change passes them; always all of them.
	Stages []Stage `json:"stages"`
	// Resources are the informers, in the order in which they were made.
	Resources []Resource  `json:"resources"`
	Queue     QueueCounts `json:"queue"`
	// Failing are the keys whose last sync did not settle, the one with the most failures first; at most 100.
	Failing []Key `json:"failing"`
	// Events are the newest ones, oldest first; at most 200.
	Events []Event `json:"events"`
}

// StageID names a stage.
type StageID string

// The stages, in the order in which a change passes them.
const (
	// StageWatch is the list and watch requests, and what they bring.
	StageWatch StageID = "watch"
	// StageFIFO is what the reflector has put into the informer's FIFO and nobody has taken out.
	StageFIFO StageID = "fifo"
	// StageStore is the informer's cache. It changes before handlers are called.
	StageStore StageID = "store"
	// StageHandler is the event handlers, which choose keys.
	StageHandler StageID = "handler"
	// StageQueue is the keys that wait: for a worker, or for their time.
	StageQueue StageID = "queue"
	// StageWorker is the workers.
	StageWorker StageID = "worker"
	// StageObserve is the first step of a sync: the snapshot of an Application and its children.
	StageObserve StageID = "observe"
	// StageConsistency is the question whether the caches have seen what was written last.
	StageConsistency StageID = "consistency"
	// StageRender is what should be.
	StageRender StageID = "render"
	// StagePlan is what is to be done about it, child by child.
	StagePlan StageID = "plan"
	// StageApply is the writes.
	StageApply StageID = "apply"
	// StageStatus is the status: computed, and written or not.
	StageStatus StageID = "status"
	// StageOutcome is how the sync ended, and when its key comes back.
	StageOutcome StageID = "outcome"
)

// Stages returns all of them, in order.
func Stages() []StageID {
	return []StageID{
		StageWatch, StageFIFO, StageStore, StageHandler, StageQueue, StageWorker,
		StageObserve, StageConsistency, StageRender, StagePlan, StageApply, StageStatus, StageOutcome,
	}
}

// Stage is what goes through one stage, and what is in it.
type Stage struct {
	ID StageID `json:"id"`
	// Total is how often something passed since the start; Rate how often a second, over the last RateWindow.
	// Of watch these are watch events; of fifo and store the same; of handler calls of handlers; of queue
	// keys that were queued; of worker syncs; of apply write requests; of status computed statuses.
	Total uint64  `json:"total"`
	Rate  float64 `json:"rate"`
	// Depth is how much is in the stage now: of watch open watches, of fifo events, of store objects, of
	// queue keys that are ready, of worker keys that are worked on. Others have none.
	Depth *int64 `json:"depth,omitempty"`
	// Limit is the most that Depth can be, where there is a most: the number of workers.
	Limit *int64 `json:"limit,omitempty"`
	// Latency is how long the last up to 1,000 took: of handler from the arrival of the watch event to
	// the call; of worker the wait in the queue; of fifo the processing of an event; of outcome the whole
	// sync; of the others themselves.
	Latency *Latency `json:"latency,omitempty"`
	// Counts split Total: of watch by type of event, of handler by event, of queue by event, of apply by verb,
	// of status by result, of outcome by verdict. Sorted by label.
	Counts []Count `json:"counts,omitempty"`
}

// RateWindow is over which time rates are.
const RateWindow = 10 * time.Second

// Latency is a distribution, in milliseconds.
type Latency struct {
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

// Count is one part of a Total.
type Count struct {
	Label string  `json:"label"`
	Total uint64  `json:"total"`
	Rate  float64 `json:"rate"`
}

// Resource is one informer: a resource in one namespace, or in all.
type Resource struct {
	// Resource is the plural with the group, as in "deployments.apps" or "configmaps".
	Resource string `json:"resource"`
	// Role tells informers of one resource apart: "applications", "classes", "children", "pods" for what
	// belongs to pods, "references" for the metadata of what Applications refer to.
	Role string `json:"role"`
	// Namespace is empty for all.
	Namespace string `json:"namespace,omitempty"`
	// State is one of Waiting (nobody needs it yet, or its API is not served), Listing, Watching, Broken (the
	// last request failed; it is tried again).
	State string `json:"state"`
	// Objects is how many are in the cache.
	Objects int `json:"objects"`
	// ResourceVersion is the newest that the cache has seen.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// FIFO is how many events wait to be processed.
	FIFO int64 `json:"fifo"`
	// Lists, Watches are how many requests of each there were; Streaming how many of the watches began
	// with the initial state (WatchList). Expired is how many ended by 410 Gone.
	Lists     uint64 `json:"lists"`
	Watches   uint64 `json:"watches"`
	Streaming uint64 `json:"streaming"`
	Expired   uint64 `json:"expired"`
	// Bookmarks and Events are what the watches brought since the start. Bytes are those of the bodies of
	// all answers, lists included, as they were decoded. Counted per URL, so 0 with a fake client.
	Bookmarks uint64 `json:"bookmarks"`
	Events    uint64 `json:"events"`
	Bytes     uint64 `json:"bytes"`
	// Since is when the present watch began; LastEvent when it brought something, bookmarks included.
	Since     *time.Time `json:"since,omitempty"`
	LastEvent *time.Time `json:"lastEvent,omitempty"`
	// Error is why the last request failed, while State is Broken.
	Error string `json:"error,omitempty"`
	// Indexes are the names by which /cache finds objects.
	Indexes []string `json:"indexes,omitempty"`
}

// QueueCounts is the queue in numbers.
type QueueCounts struct {
	// Ready keys wait for a worker; Processing are worked on; Dirty are worked on and queued again
	// meanwhile (they are among Processing); Delayed wait for their time.
	Ready      int `json:"ready"`
	Processing int `json:"processing"`
	Dirty      int `json:"dirty"`
	Delayed    int `json:"delayed"`
	// Workers is how many keys can be worked on at once.
	Workers int `json:"workers"`
}

// Delta is what a stream tells after its snapshot. All numbers are new values, not differences.
type Delta struct {
	Time     time.Time `json:"time"`
	Sequence uint64    `json:"sequence"`
	Working  bool      `json:"working"`
	// Events are new, oldest first.
	Events []Event `json:"events,omitempty"`
	// Stages, Queue, Resources and Failing replace those of the snapshot. They come together, about once
	// a second, and only if something changed.
	Stages    []Stage      `json:"stages,omitempty"`
	Resources []Resource   `json:"resources,omitempty"`
	Queue     *QueueCounts `json:"queue,omitempty"`
	Failing   *[]Key       `json:"failing,omitempty"`
}
