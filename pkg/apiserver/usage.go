// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/metrics/pkg/apis/metrics/v1beta1"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

const (
	// usagePeriod is how often measurements are read; metrics-server has new ones every 15 seconds.
	usagePeriod = 30 * time.Second
	// Measurements are rounded up to these, so that views of idle Applications stay the same.
	cpuStep    = 10      // thousandths of a core
	memoryStep = 1 << 20 // bytes
)

// usage is what a pod uses.
type usage struct {
	milliCPU, memory int64
	measured         bool
}

func (u *usage) add(other usage) {
	u.milliCPU += other.milliCPU
	u.memory += other.memory
	u.measured = true
}

// quantities returns nil for what was not measured.
func (u *usage) quantities() (cpu, memory *resource.Quantity) {
	if !u.measured {
		return nil, nil
	}
	return resource.NewMilliQuantity(roundUp(u.milliCPU, cpuStep), resource.DecimalSI),
		resource.NewQuantity(roundUp(u.memory, memoryStep), resource.BinarySI)
}

func roundUp(value, step int64) int64 { return (value + step - 1) / step * step }

// measurements are the usages of pods, by namespace and name.
type measurements map[string]map[string]usage

// listPodMetrics lists the measurements of pods; see PodMetricses in k8s.io/metrics.
type listPodMetrics func(context.Context, metav1.ListOptions) (*v1beta1.PodMetricsList, error)

// meter reads measurements from the metrics API, if the cluster serves it.
type meter struct {
	list listPodMetrics
	last atomic.Pointer[measurements]
}

func (m *meter) used() measurements {
	if last := m.last.Load(); last != nil {
		return *last
	}
	return nil
}

// run reads until the context ends. Without the metrics API, or without the permission, views show no use.
func (m *meter) run(ctx context.Context) {
	ticker := time.NewTicker(usagePeriod)
	defer ticker.Stop()
	for {
		m.read(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (m *meter) read(ctx context.Context) {
	list, err := m.list(ctx, metav1.ListOptions{LabelSelector: v1.LabelApplication})
	if err != nil {
		m.last.Store(nil)
		if !apierrors.IsNotFound(err) && ctx.Err() == nil {
			klog.FromContext(ctx).V(2).Info("Cannot read the metrics API; views show no use", "err", err)
		}
		return
	}
	read := measurements{}
	for i := range list.Items {
		item := &list.Items[i]
		if read[item.Namespace] == nil {
			read[item.Namespace] = map[string]usage{}
		}
		var sum usage
		for j := range item.Containers {
			use := item.Containers[j].Usage
			sum.add(usage{milliCPU: use.Cpu().MilliValue(), memory: use.Memory().Value()})
		}
		read[item.Namespace][item.Name] = sum
	}
	m.last.Store(&read)
}
