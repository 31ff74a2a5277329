// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// tracedStages makes a trace of each sync: a span for the sync, and below it one for each stage. Like instrumentedStages it
// observes from outside. Spans have names, counts and verdicts, and no error: an error may quote what an object contains.
type tracedStages struct {
	stages
	tracer trace.Tracer
}

func (s tracedStages) syncKey(ctx context.Context, item workqueue.Item) Outcome {
	ctx, span := s.tracer.Start(ctx, "sync", trace.WithNewRoot(), trace.WithAttributes(
		attribute.String("k8s.namespace.name", item.Key.Namespace),
		attribute.String("fairlead.application", item.Key.Name),
		attribute.String("fairlead.trigger", item.Trigger.String()),
		attribute.Int64("fairlead.queued_ms", time.Since(item.Since).Milliseconds()),
	))
	defer span.End()
	outcome := s.stages.syncKey(ctx, item)
	span.SetAttributes(attribute.String("fairlead.verdict", string(outcome.Verdict)))
	if outcome.Verdict == Failed {
		span.SetStatus(codes.Error, "")
	}
	return outcome
}

// stage runs a stage in a span. What the stage returns are the counts that its span gets.
func (s tracedStages) stage(ctx context.Context, name string, run func(context.Context) ([]attribute.KeyValue, error)) {
	ctx, span := s.tracer.Start(ctx, name)
	defer span.End()
	counts, err := run(ctx)
	span.SetAttributes(counts...)
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
}

func (s tracedStages) observe(ctx context.Context, key cache.ObjectName, trigger workqueue.Trigger, now time.Time) (observed observation, err error) {
	s.stage(ctx, "observe", func(ctx context.Context) ([]attribute.KeyValue, error) {
		observed, err = s.stages.observe(ctx, key, trigger, now)
		return []attribute.KeyValue{
			attribute.Bool("fairlead.unchanged", observed.unchanged),
			attribute.Int("fairlead.stale", len(observed.stale)),
			attribute.Int("fairlead.children", len(observed.Children)),
		}, err
	})
	return observed, err
}

func (s tracedStages) render(ctx context.Context, target target) (desired []child.Desired, err error) {
	s.stage(ctx, "render", func(ctx context.Context) ([]attribute.KeyValue, error) {
		desired, err = s.stages.render(ctx, target)
		return []attribute.KeyValue{attribute.Int("fairlead.children", len(desired))}, err
	})
	return desired, err
}

func (s tracedStages) plan(
	ctx context.Context, observed observation, owned ownership, target target, desired []child.Desired, now time.Time,
) (steps []plan.Step, err error) {
	s.stage(ctx, "plan", func(ctx context.Context) ([]attribute.KeyValue, error) {
		steps, err = s.stages.plan(ctx, observed, owned, target, desired, now)
		return []attribute.KeyValue{attribute.Int("fairlead.steps", len(steps))}, err
	})
	return steps, err
}

func (s tracedStages) execute(ctx context.Context, application *v1.Application, steps []plan.Step, now time.Time) (results []plan.Result, err error) {
	s.stage(ctx, "apply", func(ctx context.Context) ([]attribute.KeyValue, error) {
		results, err = s.stages.execute(ctx, application, steps, now)
		return []attribute.KeyValue{attribute.Int("fairlead.results", len(results))}, err
	})
	return results, err
}

func (s tracedStages) writeStatus(ctx context.Context, application *v1.Application, next v1.ApplicationStatus, write statusWrite) (err error) {
	s.stage(ctx, "status", func(ctx context.Context) ([]attribute.KeyValue, error) {
		err = s.stages.writeStatus(ctx, application, next, write)
		return []attribute.KeyValue{attribute.String("fairlead.write", write.String())}, err
	})
	return err
}
