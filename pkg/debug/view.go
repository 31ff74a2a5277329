// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import "time"

// Version is the version of the JSON, and part of every URL. Later controllers may add fields to it, but remove none and
// keep their meaning.
const Version = "v1"

// Durations are in milliseconds, with fractions. Times are RFC 3339 with nanoseconds. Fields that do not apply are
// absent.

// Snapshot is the whole pipeline at one moment.
type Snapshot struct {
	Version string `json:"version"`
	// Instance identifies this run of the controller. Do not compare sequences of different instances.
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	// Started is when the controller began to record.
	Started time.Time `json:"started"`
	// Sequence is the sequence of the newest event, Oldest the one of the oldest event that the recorder still has.
	Sequence uint64 `json:"sequence"`
	Oldest   uint64 `json:"oldest"`
	// Working is false in a replica that does not lead: its caches and its queue fill, and no worker runs.
	Working bool `json:"working"`
	// Viewers are the open streams. While there are any, events of changed objects have the paths of the fields that
	// changed.
	Viewers int `json:"viewers"`
	// Stages are all stages, in the order in which a change passes them.
	Stages []Stage `json:"stages"`
	// Resources are the informers, in the order in which they were created.
	Resources []Resource  `json:"resources"`
	Queue     QueueCounts `json:"queue"`
	// Failing are the keys whose last sync did not succeed, those with the most failures first; at most 100.
	Failing []Key `json:"failing"`
	// Events are the newest ones, oldest first; at most 200.
	Events []Event `json:"events"`
}

// StageID is the name of a stage.
type StageID string

// The stages, in the order in which a change passes them.
const (
	// StageWatch has the list and watch requests, and their events.
	StageWatch StageID = "watch"
	// StageFIFO has the events that the reflector put into the informer's FIFO and that the informer has not processed.
	StageFIFO StageID = "fifo"
	// StageStore is the informer's cache. It changes before handlers are called.
	StageStore StageID = "store"
	// StageHandler has the event handlers, which choose keys.
	StageHandler StageID = "handler"
	// StageQueue has the keys that wait for a worker, or for their time.
	StageQueue StageID = "queue"
	// StageWorker has the workers.
	StageWorker StageID = "worker"
	// StageObserve is the first step of a sync: the snapshot of an Application and its children.
	StageObserve StageID = "observe"
	// StageConsistency checks whether the caches have observed our own last writes.
	StageConsistency StageID = "consistency"
	// StageRender renders the children.
	StageRender StageID = "render"
	// StagePlan decides what to do about each child.
	StagePlan StageID = "plan"
	// StageApply has the writes.
	StageApply StageID = "apply"
	// StageStatus computes the status, and writes it if it changed.
	StageStatus StageID = "status"
	// StageOutcome is how the sync ended, and when its key returns.
	StageOutcome StageID = "outcome"
)

// Stages returns all of them, in order.
func Stages() []StageID {
	return []StageID{
		StageWatch, StageFIFO, StageStore, StageHandler, StageQueue, StageWorker,
		StageObserve, StageConsistency, StageRender, StagePlan, StageApply, StageStatus, StageOutcome,
	}
}

// Stage has the numbers of one stage.
type Stage struct {
	ID StageID `json:"id"`
	// Total is how often something passed since the start, and Rate how often per second over the last RateWindow. The
	// watch, fifo and store stages count watch events, handler counts calls of handlers, queue counts keys that were
	// queued, worker counts syncs, apply counts write requests, and status counts computed statuses.
	Total uint64  `json:"total"`
	Rate  float64 `json:"rate"`
	// Depth is how much is in the stage now: open watches, events in the FIFO, objects in the store, ready keys in the
	// queue, and keys that workers process. Other stages have none.
	Depth *int64 `json:"depth,omitempty"`
	// Limit is the maximum of Depth, if there is one: the number of workers.
	Limit *int64 `json:"limit,omitempty"`
	// Latency is the distribution of the last durations, at most 1,000: for handler from the arrival of the watch event
	// to the call, for worker the wait in the queue, for fifo the processing of an event, for outcome the whole sync,
	// and for the other stages their own duration.
	Latency *Latency `json:"latency,omitempty"`
	// Counts split Total, sorted by label: watch by type of event, handler and queue by event, apply by verb, status by
	// result, outcome by verdict.
	Counts []Count `json:"counts,omitempty"`
}

// RateWindow is the time over which rates are computed.
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
	// Role distinguishes informers of one resource: "applications", "classes", "children", "pods" for pods and
	// ReplicaSets, "references" for the metadata of ConfigMaps and Secrets.
	Role string `json:"role"`
	// Namespace is empty for all.
	Namespace string `json:"namespace,omitempty"`
	// State is one of Waiting (no Application needs it yet, or the cluster does not serve its API), Listing, Watching,
	// and Broken (the last request failed; the informer retries).
	State string `json:"state"`
	// Objects is the number of objects in the cache.
	Objects int `json:"objects"`
	// ResourceVersion is the newest one that the cache has observed.
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// FIFO is the number of events that wait to be processed.
	FIFO int64 `json:"fifo"`
	// Lists and Watches are numbers of requests. Streaming is the number of watches that began with the initial state
	// (WatchList), Expired the number of those that ended with 410 Gone.
	Lists     uint64 `json:"lists"`
	Watches   uint64 `json:"watches"`
	Streaming uint64 `json:"streaming"`
	Expired   uint64 `json:"expired"`
	// Bookmarks and Events are the numbers of events of the watches since the start. Bytes is the decoded size of all
	// response bodies, lists included. It is counted per URL, so it is 0 with a fake client.
	Bookmarks uint64 `json:"bookmarks"`
	Events    uint64 `json:"events"`
	Bytes     uint64 `json:"bytes"`
	// Since is when the present watch began, LastEvent the time of its last event, bookmarks included.
	Since     *time.Time `json:"since,omitempty"`
	LastEvent *time.Time `json:"lastEvent,omitempty"`
	// Error is why the last request failed, while State is Broken.
	Error string `json:"error,omitempty"`
	// Indexes are the names of the indexes by which /cache finds objects.
	Indexes []string `json:"indexes,omitempty"`
}

// QueueCounts is the queue in numbers.
type QueueCounts struct {
	// Ready keys wait for a worker. Workers process the Processing keys; the Dirty ones among them were queued again
	// meanwhile. Delayed keys wait for their time.
	Ready      int `json:"ready"`
	Processing int `json:"processing"`
	Dirty      int `json:"dirty"`
	Delayed    int `json:"delayed"`
	// Workers is the number of workers.
	Workers int `json:"workers"`
}

// Delta is what a stream sends after its snapshot. All numbers are new values, not differences.
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
