// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/fairlead/pkg/apply/applytest"
	"fairlead.dev/fairlead/pkg/debug"
)

// TestTrace follows a new Application: each sync is a trace of its own, with a span for each stage that it came to. It is the
// same beside the live view.
func TestTrace(t *testing.T) {
	for name, pipeline := range map[string]*debug.Recorder{"alone": nil, "beside the live view": debug.New()} {
		t.Run(name, func(t *testing.T) {
			exporter := tracetest.NewInMemoryExporter()
			provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
			inWorld(t, setup{pipeline: pipeline, tracer: provider.Tracer("test")}, func(w *world) {
				pass(0)
				applytest.Put(w.server, applytest.Applications, application("web"))
				pass(0)
				spans := exporter.GetSpans()
				var syncs []tracetest.SpanStub
				for _, span := range spans {
					if !span.Parent.IsValid() {
						syncs = append(syncs, span)
					}
				}
				slices.SortFunc(syncs, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
				if len(syncs) < 2 {
					t.Fatalf("there are %d traces, want one for each sync", len(syncs))
				}
				first := syncs[0]
				if got, want := attributes(first), "fairlead.application=web fairlead.queued_ms=0 fairlead.trigger=ApplicationAdded fairlead.verdict=Succeeded k8s.namespace.name="+namespace; first.Name != "sync" || got != want {
					t.Errorf("the first span is %s with %s, want sync with %s", first.Name, got, want)
				}
				if pipeline != nil {
					shown, _ := pipeline.Timeline(debug.Name{Namespace: namespace, Name: "web"})
					if got, want := shown.Syncs[0].TraceID, first.SpanContext.TraceID().String(); got != want {
						t.Errorf("the live view shows trace %q for the first sync, want %q", got, want)
					}
				}
				want := []string{"observe", "render", "plan", "apply", "status"}
				if diff := cmp.Diff(want, stagesOf(t, spans, first)); diff != "" {
					t.Errorf("stages of the first sync (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestTraceOfAFailure marks the stage and the sync, and quotes nothing of the error.
func TestTraceOfAFailure(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	const secret = "what the object contains"
	s, _ := oneBad(func() error { return apierrors.NewInternalError(errors.New(secret)) })
	s.tracer = provider.Tracer("test")
	inWorld(t, s, func(*world) {
		pass(time.Second)
		failed := map[string]bool{}
		for _, span := range exporter.GetSpans() {
			if span.Status.Code == codes.Error {
				failed[span.Name] = true
			}
			if text := span.Status.Description + attributes(span); strings.Contains(text, secret) || len(span.Events) > 0 {
				t.Errorf("span %s has %q, and the events %v", span.Name, text, span.Events)
			}
		}
		if !failed["sync"] {
			t.Errorf("marked as failed are %v", failed)
		}
	})
}

// stagesOf returns the spans below a sync, in order.
func stagesOf(t *testing.T, spans tracetest.SpanStubs, sync tracetest.SpanStub) []string {
	t.Helper()
	var names []string
	for _, span := range spans {
		if span.Parent.SpanID() == sync.SpanContext.SpanID() {
			if span.SpanContext.TraceID() != sync.SpanContext.TraceID() {
				t.Errorf("%s is of another trace than its sync", span.Name)
			}
			names = append(names, span.Name)
		}
	}
	return names
}

// attributes are those of a span, sorted.
func attributes(span tracetest.SpanStub) string {
	texts := make([]string, len(span.Attributes))
	for i, pair := range span.Attributes {
		texts[i] = string(pair.Key) + "=" + pair.Value.String()
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}
