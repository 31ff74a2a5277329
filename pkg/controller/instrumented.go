// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/debug"
	appsclient "fairlead.dev/fairlead/pkg/generated/clientset/versioned/typed/apps/v1"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// This file observes the loop for the live view, from outside. Without it the loop does the same.

// instrumentedStages records the stages of the Controller, and the events of its queue.
type instrumentedStages struct {
	stages
	recorder *debug.Recorder
	queue    *observedQueue
}

// instrument makes a recorder observe the Controller.
func (c *Controller) instrument(recorder *debug.Recorder, queue *observedQueue) {
	c.stages = instrumentedStages{stages: c, recorder: recorder, queue: queue}
	c.Applications = instrumentedApplications{c.Applications}
	recorder.SetQueue(func(limit int) debug.QueueState { return c.queueState(queue, limit) })
}

func (s instrumentedStages) syncKey(ctx context.Context, item workqueue.Item) Outcome {
	record := s.recorder.Started(item.Key, item.Trigger.Kind, string(item.Trigger.Event), item.Since, traceID(ctx))
	outcome := s.stages.syncKey(record.Context(ctx), item)
	record.Synced(string(outcome.Verdict), outcome.Verdict != Succeeded && outcome.Verdict != Stale && outcome.Verdict != Throttled, outcome.Err)
	if outcome.RequeueAfter > 0 || outcome.Verdict != Succeeded && outcome.Verdict != Invalid {
		s.queue.willReturn(item.Key, record.ID())
	}
	return outcome
}

// traceID returns the ID of the trace that ctx belongs to, or "" if none is sent; see tracedStages.
func traceID(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		return span.TraceID().String()
	}
	return ""
}

func (s instrumentedStages) observe(ctx context.Context, key cache.ObjectName, trigger workqueue.Trigger, now time.Time) (observation, error) {
	observed, err := s.stages.observe(ctx, key, trigger, now)
	record := debug.SyncFrom(ctx)
	switch {
	case err != nil:
	case observed.unchanged:
		record.Unchanged()
	case observed.Application == nil:
		record.NotFound()
	default:
		record.Observed(len(observed.Children))
		if len(observed.stale) > 0 {
			record.Stale(observed.stale[0].GroupResource().String())
		} else {
			record.Fresh()
		}
	}
	return observed, err
}

func (s instrumentedStages) render(ctx context.Context, target target) ([]child.Desired, error) {
	desired, err := s.stages.render(ctx, target)
	if err == nil {
		debug.SyncFrom(ctx).Rendered(len(desired))
	}
	return desired, err
}

func (s instrumentedStages) plan(
	ctx context.Context, observed observation, owned ownership, target target, desired []child.Desired, now time.Time,
) ([]plan.Step, error) {
	steps, err := s.stages.plan(ctx, observed, owned, target, desired, now)
	if err != nil {
		return nil, err
	}
	record, changes := debug.SyncFrom(ctx), 0
	for i := range steps {
		step := &steps[i]
		switch step.Action {
		case plan.Keep:
			continue
		case plan.Create, plan.Apply, plan.Scale, plan.Adopt, plan.Delete:
			changes++
		}
		record.Step(step.Ref.Kind.GroupVersionResource().GroupResource().String(),
			cache.ObjectName{Namespace: step.Ref.Namespace, Name: step.Ref.Name}, string(step.Action), step.Reason, step.Fields)
	}
	record.Planned(changes)
	return steps, nil
}

func (s instrumentedStages) execute(ctx context.Context, application *v1.Application, steps []plan.Step, now time.Time) ([]plan.Result, error) {
	results, err := s.stages.execute(ctx, application, steps, now)
	debug.SyncFrom(ctx).Applied()
	return results, err
}

func (s instrumentedStages) writeStatus(ctx context.Context, application *v1.Application, next v1.ApplicationStatus, write statusWrite) error {
	err := s.stages.writeStatus(ctx, application, next, write)
	result := write.String()
	if err != nil {
		result = statusFailed
	}
	debug.SyncFrom(ctx).Status(result, err)
	return err
}

// maxDelayedKeys limits the number of known delayed keys. The queue has no limit.
const maxDelayedKeys = 10_000

// observedQueue knows the delayed keys and their times, which client-go's queue does not expose.
type observedQueue struct {
	recorder *debug.Recorder

	mu      sync.Mutex
	delayed map[cache.ObjectName]delayedKey
	swept   time.Time
	// returning are the IDs of syncs whose keys are about to be requeued.
	returning map[cache.ObjectName]uint64
}

// delayedKey is when a key is due, and how often it was retried.
type delayedKey struct {
	due      time.Time
	failures int
}

var _ workqueue.Observer = (*observedQueue)(nil)

func newObservedQueue(recorder *debug.Recorder) *observedQueue {
	return &observedQueue{recorder: recorder, delayed: map[cache.ObjectName]delayedKey{}, returning: map[cache.ObjectName]uint64{}}
}

// willReturn records that the sync with the ID has ended, and that its key returns.
func (q *observedQueue) willReturn(key cache.ObjectName, syncID uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.returning[key] = syncID
}

// Enqueued implements workqueue.Observer.
func (q *observedQueue) Enqueued(key cache.ObjectName, trigger workqueue.Trigger, now, deadline time.Time) {
	q.recorder.Enqueued(key, trigger.Kind, string(trigger.Event), now, deadline)
}

// Delayed implements workqueue.Observer.
func (q *observedQueue) Delayed(key cache.ObjectName, event workqueue.Event, failures int, due time.Time) {
	switch event {
	case workqueue.Retried:
		q.recorder.Retrying(key, q.delay(key, failures, due), failures, due)
	case workqueue.Requeued:
		q.recorder.Delayed(key, q.delay(key, 0, due), "look again", due)
	default:
		q.delay(key, 0, due)
		q.recorder.Delayed(key, 0, "more changes may follow", due)
	}
}

// delay records a delay as the queue does: of two for one key, the shorter counts. It returns the ID of the sync that
// caused it, or 0.
func (q *observedQueue) delay(key cache.ObjectName, failures int, due time.Time) (syncID uint64) {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	syncID = q.returning[key]
	delete(q.returning, key)
	if len(q.delayed) >= maxDelayedKeys && now.Sub(q.swept) > time.Second {
		q.sweep(now)
	}
	known, found := q.delayed[key]
	waits := found && known.due.After(now)
	if waits && known.due.Before(due) || !found && len(q.delayed) >= maxDelayedKeys {
		return syncID
	}
	q.delayed[key] = delayedKey{due: due, failures: failures}
	return syncID
}

// sweep drops the keys that are due. The caller has the lock.
func (q *observedQueue) sweep(now time.Time) {
	for key, delayed := range q.delayed {
		if !delayed.due.After(now) {
			delete(q.delayed, key)
		}
	}
	q.swept = now
}

// instrumentedApplications records the requests for the Application itself.
type instrumentedApplications struct {
	appsclient.ApplicationsGetter
}

func (a instrumentedApplications) Applications(namespace string) appsclient.ApplicationInterface {
	return instrumentedApplication{a.ApplicationsGetter.Applications(namespace), namespace}
}

type instrumentedApplication struct {
	appsclient.ApplicationInterface
	namespace string
}

func (a instrumentedApplication) object(name string) cache.ObjectName {
	return cache.ObjectName{Namespace: a.namespace, Name: name}
}

func (a instrumentedApplication) Get(ctx context.Context, name string, options metav1.GetOptions) (*v1.Application, error) {
	began := time.Now()
	live, err := a.ApplicationInterface.Get(ctx, name, options)
	recordRequest(ctx, "get", "", a.object(name), live, began, err)
	return live, err
}

func (a instrumentedApplication) UpdateStatus(ctx context.Context, application *v1.Application, options metav1.UpdateOptions) (*v1.Application, error) {
	began := time.Now()
	written, err := a.ApplicationInterface.UpdateStatus(ctx, application, options)
	recordRequest(ctx, "update", "status", a.object(application.Name), written, began, err)
	return written, err
}

func (a instrumentedApplication) Patch(
	ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string,
) (*v1.Application, error) {
	began := time.Now()
	written, err := a.ApplicationInterface.Patch(ctx, name, kind, data, options, subresources...)
	subresource := ""
	if len(subresources) > 0 {
		subresource = subresources[0]
	}
	recordRequest(ctx, "patch", subresource, a.object(name), written, began, err)
	return written, err
}

// recordRequest records a request for an Application in the sync of its context. answered may be nil after an error.
func recordRequest(ctx context.Context, verb, subresource string, object cache.ObjectName, answered *v1.Application, began time.Time, err error) {
	resource := applicationsGVR.GroupResource().String()
	if subresource != "" {
		resource += "/" + subresource
	}
	request := debug.Request{Verb: verb, Resource: resource, Object: object, Began: began, Err: err}
	if err == nil && answered != nil {
		request.Version = answered.ResourceVersion
	}
	debug.Requested(ctx, request)
}
