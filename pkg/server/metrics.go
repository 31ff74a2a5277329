// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // work queues, requests, leader election and informers
	"k8s.io/component-base/version"
)

// MetricsHandler serves /metrics: the metrics of the registry, and the process-wide ones of client-go, the Go runtime
// and the Kubernetes libraries. profiling adds /debug/pprof.
func MetricsHandler(registry metrics.KubeRegistry, profiling bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.HandlerFor(prometheus.Gatherers{registry, legacyregistry.DefaultGatherer}, metrics.HandlerOpts{
		// A collector that fails must not hide the others.
		ErrorHandling: metrics.ContinueOnError,
	}))
	if profiling {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// RegisterBuildInfo registers the metric that identifies the build.
func RegisterBuildInfo(registry metrics.KubeRegistry) {
	info := version.Get()
	build := metrics.NewGaugeVec(&metrics.GaugeOpts{
		Name:           "fairlead_build_info",
		Help:           "Always 1. The labels have the versions of this build and of Go.",
		StabilityLevel: metrics.ALPHA,
	}, []string{"version", "go_version"})
	registry.MustRegister(build)
	build.WithLabelValues(info.GitVersion, info.GoVersion).Set(1)
}
