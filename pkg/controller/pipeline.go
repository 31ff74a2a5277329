// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/plan"
)

// queueState tells the recorder what is in the queue. Each part is taken at its own moment, so a key that
// moves meanwhile may be missing, or there twice.
func (c *Controller) queueState(limit int) debug.QueueState {
	ready := c.queue.order.ready()
	processing, working := c.watchdog.processing()
	delayed := c.queue.delays.delayed()
	state := debug.QueueState{
		Working:    working,
		Counts:     debug.QueueCounts{Ready: len(ready), Processing: len(processing), Delayed: len(delayed), Workers: c.Workers},
		Ready:      ready[:min(limit, len(ready))],
		Processing: processing[:min(limit, len(processing))],
		Delayed:    delayed[:min(limit, len(delayed))],
	}
	noted := c.queue.order.notedAmong(processing)
	state.Counts.Dirty = len(noted)
	for i := range state.Processing {
		if key := &state.Processing[i]; noted[key.Name] {
			key.State = debug.KeyDirty
		}
	}
	return state
}

// ready returns the keys that wait for a worker, in the order in which they are taken.
func (d *deadlines) ready() []debug.Key {
	d.mu.Lock()
	waiting := slices.Clone(d.heap.keys)
	d.mu.Unlock()
	slices.SortFunc(waiting, func(a, b waitingKey) int {
		return cmp.Or(a.deadline.Compare(b.deadline), cmp.Compare(a.sequence, b.sequence))
	})
	keys := make([]debug.Key, 0, len(waiting))
	for _, w := range waiting {
		keys = append(keys, debug.Key{
			Name: debug.Name(w.key), State: debug.KeyReady, Trigger: w.trigger.String(), Since: &w.since, Deadline: &w.deadline,
		})
	}
	return keys
}

// recordDirty records that a key was queued that is worked on. Others are recorded when they get their place.
func (d *deadlines) recordDirty(key cache.ObjectName, trigger Trigger) {
	if d.pipeline == nil {
		return
	}
	d.mu.Lock()
	_, dirty := d.noted[key]
	d.mu.Unlock()
	if dirty {
		at := time.Now()
		d.pipeline.Enqueued(key, trigger.Kind, string(trigger.Event), at, at.Add(trigger.Event.patience()))
	}
}

// notedAmong returns those of the keys that were queued again while they are worked on: the reason of a
// key is kept until the key is ready.
func (d *deadlines) notedAmong(processing []debug.Key) map[debug.Name]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	among := map[debug.Name]bool{}
	for _, key := range processing {
		if _, noted := d.noted[cache.ObjectName(key.Name)]; noted {
			among[key.Name] = true
		}
	}
	return among
}

// processing returns the keys that are worked on, the one that has been for longest first, and whether
// any worker runs.
func (w *watchdog) processing() (keys []debug.Key, working bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, since := range w.busy {
		keys = append(keys, debug.Key{Name: debug.Name(key), State: debug.KeyProcessing, Since: &since})
	}
	slices.SortFunc(keys, func(a, b debug.Key) int { return a.Since.Compare(*b.Since) })
	return keys, w.working
}

// recordPlan ends the stage plan in the records. It tells whether anything is to be written.
func recordPlan(sync *debug.SyncRecorder, steps []plan.Step) (writes bool) {
	changes := 0
	for i := range steps {
		step := &steps[i]
		if step.Action == plan.Keep {
			continue
		}
		switch step.Action {
		case plan.Create, plan.Apply, plan.Scale, plan.Delete:
			changes++
		}
		sync.Step(step.Ref.Kind.GroupVersionResource().GroupResource().String(),
			cache.ObjectName{Namespace: step.Ref.Namespace, Name: step.Ref.Name}, string(step.Action), step.Reason, step.Fields)
	}
	sync.Planned(changes)
	return changes > 0
}

// recordOutcome ends a sync in the records.
func recordOutcome(sync *debug.SyncRecorder, outcome Outcome) {
	failing := outcome.Verdict != Settled && outcome.Verdict != Stale
	sync.Synced(string(outcome.Verdict), failing, outcome.Err)
}

// recordRequest records a request about the Application itself. answered may be nil after an error.
func recordRequest(ctx context.Context, verb, subresource string, application, answered *v1.Application, began time.Time, err error) {
	request := debug.Request{
		Verb: verb, Resource: applicationsGVR.GroupResource().String(), Object: cache.MetaObjectToName(application), Began: began, Err: err,
	}
	if subresource != "" {
		request.Resource += "/" + subresource
	}
	if err == nil && answered != nil {
		request.Version = answered.ResourceVersion
	}
	debug.Requested(ctx, request)
}
