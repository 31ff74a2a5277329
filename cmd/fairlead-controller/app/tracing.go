// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/component-base/tracing"
	tracingapi "k8s.io/component-base/tracing/api/v1"
	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
)

const (
	// tracerName is the instrumentation scope of the spans.
	tracerName = "fairlead.dev/controller"
	// maxSamplingRate is every sync.
	maxSamplingRate = 1_000_000
	// flushTimeout bounds how long a shutdown waits for a collector that does not answer.
	flushTimeout = 5 * time.Second
)

// TracingOptions are the flags of the traces.
type TracingOptions struct {
	Endpoint     string
	SamplingRate int32
}

func newTracingOptions() TracingOptions { return TracingOptions{SamplingRate: maxSamplingRate / 100} }

func (o *TracingOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Endpoint, "tracing-endpoint", o.Endpoint, "Address of an OpenTelemetry collector (OTLP over gRPC, without TLS) that gets a trace of each sampled sync, e.g. localhost:4317. Empty disables traces.")
	flags.Int32Var(&o.SamplingRate, "tracing-sampling-rate-per-million", o.SamplingRate, "How many of a million syncs are traced.")
}

func (o *TracingOptions) validate() []error {
	var errs []error
	if o.Endpoint != "" {
		if host, port, err := net.SplitHostPort(o.Endpoint); err != nil || host == "" || port == "" {
			errs = append(errs, fmt.Errorf("--tracing-endpoint is %q, but must be host:port", o.Endpoint))
		}
	}
	if o.SamplingRate < 0 || o.SamplingRate > maxSamplingRate {
		errs = append(errs, fmt.Errorf("--tracing-sampling-rate-per-million is %d, but must be between 0 and %d", o.SamplingRate, maxSamplingRate))
	}
	return errs
}

// config returns nil if there are no traces.
func (o *TracingOptions) config() *tracingapi.TracingConfiguration {
	if o.Endpoint == "" {
		return nil
	}
	return &tracingapi.TracingConfiguration{Endpoint: &o.Endpoint, SamplingRatePerMillion: &o.SamplingRate}
}

// newTracer returns a tracer, or nil if there are no traces. flush sends the last spans. A collector that cannot be
// reached costs spans, and delays no sync.
func newTracer(ctx context.Context, config *tracingapi.TracingConfiguration) (tracer trace.Tracer, flush func(), err error) {
	if config == nil {
		return nil, func() {}, nil
	}
	provider, err := tracing.NewProvider(ctx, config, nil, []resource.Option{resource.WithAttributes(
		attribute.String("service.name", "fairlead-controller"),
		attribute.String("service.version", version.Get().GitVersion),
	)})
	if err != nil {
		return nil, nil, fmt.Errorf("set up traces: %w", err)
	}
	flush = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			klog.FromContext(ctx).Info("The collector of traces did not take the last spans", "endpoint", *config.Endpoint)
		}
	}
	return provider.Tracer(tracerName), flush, nil
}
