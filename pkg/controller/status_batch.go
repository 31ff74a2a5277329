// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/status"
)

// statusBatchPeriod is how long counts and messages that move while work is under way may wait to be written, so that
// a rollout does not cost a status write for each pod.
const statusBatchPeriod = time.Second

// statusWrite is what to do with a computed status.
type statusWrite int

const (
	writeNever statusWrite = iota
	writeNow
	writeLater
)

// String names what becomes of the status, for metrics and the live view.
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

// deferStatus decides what to do with a status, and for writeLater, after which delay to look again.
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
