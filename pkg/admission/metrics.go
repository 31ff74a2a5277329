// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/component-base/metrics"
)

// Webhook is one of the two, as the metrics call it.
type Webhook string

// The webhooks.
const (
	Mutating   Webhook = "mutating"
	Validating Webhook = "validating"
)

// decision is how a request ended, as the metrics call it.
type decision string

const (
	allowed decision = "allowed"
	denied  decision = "denied"
	// failed: there was no decision, and the API server refuses the request because of that.
	failed decision = "error"
)

// Metrics of the webhooks. Their labels have few values, and never a name.
type Metrics struct {
	duration  *metrics.HistogramVec
	decisions *metrics.CounterVec
	rejected  *metrics.CounterVec
	panics    *metrics.CounterVec
}

// NewMetrics makes the metrics. They count from the moment they are registered.
func NewMetrics() *Metrics {
	const namespace, subsystem = "fairlead", "admission"
	return &Metrics{
		duration: metrics.NewHistogramVec(&metrics.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "duration_seconds",
			Help:           "Duration of admission requests in this process, by webhook and operation.",
			Buckets:        []float64{0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5},
			StabilityLevel: metrics.ALPHA,
		}, []string{"webhook", "operation"}),
		decisions: metrics.NewCounterVec(&metrics.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "decisions_total",
			Help:           "Admission requests by webhook, operation and decision: allowed, denied or error.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"webhook", "operation", "decision"}),
		rejected: metrics.NewCounterVec(&metrics.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "overload_rejections_total",
			Help:           "Admission requests refused with 429 because of overload, by webhook.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"webhook"}),
		panics: metrics.NewCounterVec(&metrics.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "panics_total",
			Help:           "Panics caught in the webhooks, by webhook.",
			StabilityLevel: metrics.ALPHA,
		}, []string{"webhook"}),
	}
}

// Register registers the metrics, once: m.Register(legacyregistry.Register).
func (m *Metrics) Register(register func(metrics.Registerable) error) error {
	for _, metric := range []metrics.Registerable{m.duration, m.decisions, m.rejected, m.panics} {
		if err := register(metric); err != nil {
			return err
		}
	}
	// A series that begins with its first panic would hide that one from increase().
	for _, webhook := range []Webhook{Mutating, Validating} {
		m.panics.WithLabelValues(string(webhook))
		m.rejected.WithLabelValues(string(webhook))
	}
	return nil
}

func (m *Metrics) observe(webhook Webhook, operation string, outcome decision, took time.Duration) {
	m.duration.WithLabelValues(string(webhook), operation).Observe(took.Seconds())
	m.decisions.WithLabelValues(string(webhook), operation, string(outcome)).Inc()
}

// operationLabel keeps what a stranger may send out of the labels.
func operationLabel(operation admissionv1.Operation) string {
	switch operation {
	case admissionv1.Create, admissionv1.Update:
		return string(operation)
	default:
		return "other"
	}
}
