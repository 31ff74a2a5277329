// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"slices"
	"strings"
	"time"
)

// counter counts since the start, and per second for the last seconds.
type counter struct {
	total   uint64
	seconds [rateSeconds + 1]struct {
		second int64
		count  uint32
	}
}

const rateSeconds = int64(RateWindow / time.Second)

func (c *counter) add(at int64) {
	c.total++
	second := at / int64(time.Second)
	slot := &c.seconds[second%int64(len(c.seconds))]
	if slot.second != second {
		slot.second, slot.count = second, 0
	}
	slot.count++
}

// rate returns the rate per second over the last whole seconds. The present second has not ended.
func (c *counter) rate(at int64) float64 {
	now, sum := at/int64(time.Second), uint32(0)
	for i := range c.seconds {
		if slot := &c.seconds[i]; slot.second < now && slot.second >= now-rateSeconds {
			sum += slot.count
		}
	}
	return float64(sum) / float64(rateSeconds)
}

// maxLabels limits the number of labels of a stage. The set of labels is fixed, so only a defect can exceed it.
const maxLabels = 32

// tally counts the events of one stage.
type tally struct {
	counter
	labels    []labelled
	latencies [1000]int64
	next      int
	full      bool
}

type labelled struct {
	label string
	counter
}

func newTally() *tally { return &tally{labels: make([]labelled, 0, maxLabels)} }

func (t *tally) add(label string, at, took int64) {
	t.counter.add(at)
	if took > 0 {
		t.latencies[t.next] = took
		t.next++
		if t.next == len(t.latencies) {
			t.next, t.full = 0, true
		}
	}
	if label == "" {
		return
	}
	for i := range t.labels {
		if t.labels[i].label == label {
			t.labels[i].add(at)
			return
		}
	}
	if len(t.labels) < maxLabels {
		t.labels = append(t.labels, labelled{label: label})
		t.labels[len(t.labels)-1].add(at)
	}
}

// stage returns the tally as JSON shows it.
func (t *tally) stage(id StageID, at int64) Stage {
	described := Stage{ID: id, Total: t.total, Rate: t.rate(at), Latency: t.latency()}
	for i := range t.labels {
		l := &t.labels[i]
		described.Counts = append(described.Counts, Count{Label: l.label, Total: l.total, Rate: l.rate(at)})
	}
	slices.SortFunc(described.Counts, func(a, b Count) int { return strings.Compare(a.Label, b.Label) })
	return described
}

func (t *tally) latency() *Latency {
	held := t.latencies[:t.next]
	if t.full {
		held = t.latencies[:]
	}
	if len(held) == 0 {
		return nil
	}
	sorted := slices.Clone(held)
	slices.Sort(sorted)
	return &Latency{
		Median: milliseconds(sorted[len(sorted)/2]),
		P99:    milliseconds(sorted[len(sorted)*99/100]),
		Max:    milliseconds(sorted[len(sorted)-1]),
	}
}
