// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/status"
)

// statusBatchPeriod is how long a status may wait that differs only in counts and messages, so that a rollout does not cost a
// write for each pod.
const statusBatchPeriod = time.Second

// statusWrite is whether and when to write a computed status.
type statusWrite int

const (
	writeNever statusWrite = iota
	writeNow
	writeLater
)

// String returns the result of the stage status, for metrics and the live view.
func (w statusWrite) String() string {
	switch w {
	case writeNow:
		return statusWritten
	case writeLater:
		return statusDeferred
	default:
		return statusUnchanged
	}
}

// deferStatus decides when to write a status, and for writeLater, the delay of the next sync.
func (m *memory) deferStatus(key cache.ObjectName, urgency status.Urgency, now time.Time) (write statusWrite, delay time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	remembered := m.of(key)
	due := remembered.statusDue
	switch {
	case urgency == status.Batched && due.IsZero():
		remembered.statusDue = now.Add(statusBatchPeriod)
		return writeLater, statusBatchPeriod
	case urgency == status.Batched && now.Before(due):
		return writeLater, due.Sub(now)
	case urgency == status.Unchanged:
		remembered.statusDue = time.Time{}
		return writeNever, 0
	default:
		remembered.statusDue = time.Time{}
		return writeNow, 0
	}
}
