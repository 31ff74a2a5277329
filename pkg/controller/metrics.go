// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/component-base/metrics"

	"fairlead.dev/fairlead/pkg/plan"
)

// Metrics count what the syncs do. No label grows with the number of Applications.
type Metrics struct {
	registry metrics.KubeRegistry
	syncs    *metrics.HistogramVec
	steps    *metrics.CounterVec
	writes   *metrics.CounterVec
	statuses *metrics.CounterVec
}

// The results of the stage status.
const (
	statusWritten   = "Written"
	statusUnchanged = "Unchanged"
	statusDeferred  = "Deferred"
	statusFailed    = "Failed"
)

// NewMetrics creates the metrics and registers them.
func NewMetrics(registry metrics.KubeRegistry) *Metrics {
	m := &Metrics{
		registry: registry,
		syncs: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Name: "fairlead_sync_duration_seconds",
			Help: "Duration of syncs of Applications, by verdict: Succeeded, Stale (skipped because the caches were behind), Throttled (delayed because the Application is large), Invalid, Blocked, Failed.",
			// A sync that finds nothing to do takes a fraction of a millisecond.
			Buckets:        []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30},
			StabilityLevel: metrics.ALPHA,
		}, []string{"verdict"}),
		steps: metrics.NewCounterVec(&metrics.CounterOpts{
			Name:           "fairlead_child_steps_total",
			Help:           "Decisions of syncs about children, by action and kind. Keep means that no write was needed.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"action", "kind"}),
		writes: metrics.NewCounterVec(&metrics.CounterOpts{
			Name:           "fairlead_child_writes_total",
			Help:           "Requests that write children, by verb, kind and result: Success, Lost (another client was faster), Failed.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"verb", "kind", "result"}),
		statuses: metrics.NewCounterVec(&metrics.CounterOpts{
			Name:           "fairlead_status_updates_total",
			Help:           "Computed statuses, by result: Written, Unchanged, Deferred (batched with later changes), Failed.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"result"}),
	}
	registry.MustRegister(m.syncs, m.steps, m.writes, m.statuses)
	// Initialized to 0, so that rates exist before the first event.
	for _, verdict := range []Verdict{Succeeded, Stale, Throttled, Invalid, Blocked, Failed} {
		m.syncs.WithLabelValues(string(verdict))
	}
	for _, result := range []string{statusWritten, statusUnchanged, statusDeferred, statusFailed} {
		m.statuses.WithLabelValues(result)
	}
	return m
}

func (m *Metrics) synced(verdict Verdict, took time.Duration) {
	m.syncs.WithLabelValues(string(verdict)).Observe(took.Seconds())
}

func (m *Metrics) planned(results []plan.Result) {
	for _, result := range results {
		m.steps.WithLabelValues(string(result.Action), result.Ref.Kind.Kind).Inc()
	}
}

// status counts a result of the stage status.
func (m *Metrics) status(write statusWrite, err error) {
	result := write.String()
	if err != nil {
		result = statusFailed
	}
	m.statuses.WithLabelValues(result).Inc()
}
