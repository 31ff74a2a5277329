// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// fifoMetrics are the metrics of an informer's FIFO: the number of waiting events, and the time to process one. The FIFO
// itself is not accessible.
type fifoMetrics struct{ queued atomic.Int64 }

func (m *fifoMetrics) depth() int64 { return m.queued.Load() }

// Metrics returns the metrics provider with which to create an informer, so that the recorder knows the depth of its
// FIFO. client-go uses it only if the informer has a name; see cache.SharedIndexInformerOptions.Identifier.
func (rr *ResourceRecorder) Metrics() cache.InformerMetricsProvider {
	if rr == nil {
		return nil
	}
	return informerMetrics{rr}
}

type informerMetrics struct{ resource *ResourceRecorder }

func (m informerMetrics) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return queuedItems{&m.resource.fifo}
}

func (m informerMetrics) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return processingLatency{m.resource.recorder}
}

// NewStoreResourceVersionMetric returns no metric, because the recorder reads the version from the cache.
func (informerMetrics) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return ignored{}
}

type queuedItems struct{ metrics *fifoMetrics }

func (q queuedItems) Set(value float64) { q.metrics.queued.Store(int64(value)) }

type processingLatency struct{ recorder *Recorder }

func (l processingLatency) Observe(seconds float64) {
	l.recorder.count(fifo, "", time.Duration(seconds*float64(time.Second)))
}

type ignored struct{}

func (ignored) Set(float64) {}
