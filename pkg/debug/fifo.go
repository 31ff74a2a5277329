// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"
)

// fifoMetrics are what an informer's FIFO tells: how many events wait, and how long one took to be
// processed. The FIFO itself is out of reach.
type fifoMetrics struct{ queued atomic.Int64 }

func (m *fifoMetrics) depth() int64 { return m.queued.Load() }

// Metrics is what an informer is to be made with, so that its FIFO tells how deep it is. client-go
// asks for it only if the informer has a name; see cache.SharedIndexInformerOptions.Identifier.
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

// NewStoreResourceVersionMetric is asked for too; the cache tells its version itself.
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
