// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
)

// receiver is an OpenTelemetry collector that keeps what it gets.
type receiver struct {
	collector.UnimplementedTraceServiceServer
	// spans has what each span is called, behind the name of the service.
	spans chan string
}

func (r *receiver) Export(_ context.Context, request *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	for _, resource := range request.GetResourceSpans() {
		service := ""
		for _, pair := range resource.GetResource().GetAttributes() {
			if pair.GetKey() == "service.name" {
				service = pair.GetValue().GetStringValue()
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans <- service + " " + span.GetName()
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, nil
}

// startReceiver serves a receiver until the test ends, and returns its address.
func startReceiver(t *testing.T) (*receiver, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	received, server := &receiver{spans: make(chan string, 100)}, grpc.NewServer()
	collector.RegisterTraceServiceServer(server, received)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return received, listener.Addr().String()
}

// TestTracesAreSent sends spans to a collector in this process. flush returns once it has them.
func TestTracesAreSent(t *testing.T) {
	for _, test := range []struct {
		name string
		rate int32
		want []string
	}{
		{"all", maxSamplingRate, []string{"fairlead-controller observe", "fairlead-controller sync"}},
		{"none", 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			received, address := startReceiver(t)
			options := TracingOptions{Endpoint: address, SamplingRate: test.rate}
			tracer, flush, err := newTracer(t.Context(), options.config())
			if err != nil {
				t.Fatal(err)
			}
			ctx, sync := tracer.Start(t.Context(), "sync")
			_, stage := tracer.Start(ctx, "observe")
			stage.End()
			sync.End()
			flush()
			close(received.spans)
			var got []string
			for span := range received.spans {
				got = append(got, span)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoTraces: without an endpoint there is no tracer, so the controller has no span to make.
func TestNoTraces(t *testing.T) {
	options := newTracingOptions()
	tracer, flush, err := newTracer(t.Context(), options.config())
	if tracer != nil || err != nil {
		t.Errorf("there is a tracer %v, or an error: %v", tracer, err)
	}
	flush()
}

func TestValidateTracing(t *testing.T) {
	for _, test := range []struct {
		name string
		o    TracingOptions
		want string
	}{
		{"none", TracingOptions{}, ""},
		{"the defaults and an endpoint", TracingOptions{Endpoint: "collector.monitoring:4317", SamplingRate: newTracingOptions().SamplingRate}, ""},
		{"a URL", TracingOptions{Endpoint: "http://collector:4317"}, `--tracing-endpoint is "http://collector:4317", but must be host:port`},
		{"no host", TracingOptions{Endpoint: ":4317"}, `--tracing-endpoint is ":4317", but must be host:port`},
		{"more than all", TracingOptions{SamplingRate: 1_000_001}, "--tracing-sampling-rate-per-million is 1000001, but must be between 0 and 1000000"},
		{"fewer than none", TracingOptions{SamplingRate: -1}, "--tracing-sampling-rate-per-million is -1, but must be between 0 and 1000000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := NewOptions()
			options.Tracing = test.o
			if diff := cmp.Diff(test.want, message(options.Validate())); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
