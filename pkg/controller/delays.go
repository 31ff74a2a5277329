// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"fairlead.dev/fairlead/pkg/debug"
)

// mostDelays is how many delayed keys are known at once. The work queue itself has no limit.
const mostDelays = 10_000

// delays knows which keys the work queue holds back, and until when: the work queue does not tell. It
// stands between the rate limits and the delays of client-go, where both kinds of waiting pass.
type delays struct {
	workqueue.TypedDelayingInterface[cache.ObjectName]
	pipeline *debug.Recorder
	limiter  workqueue.TypedRateLimiter[cache.ObjectName]

	mu    sync.Mutex
	due   map[cache.ObjectName]time.Time
	swept time.Time
	// settling has the syncs whose outcomes are settled at this moment, which is when AddAfter is called.
	settling map[cache.ObjectName]ended
}

// ended is a sync that has: its ID, and whether the key has to be tried again.
type ended struct {
	syncID uint64
	retry  bool
}

// recordDelays returns the queue itself if nobody wants to know.
func recordDelays(
	recorder *debug.Recorder, queue workqueue.TypedDelayingInterface[cache.ObjectName], limiter workqueue.TypedRateLimiter[cache.ObjectName],
) (workqueue.TypedDelayingInterface[cache.ObjectName], *delays) {
	if recorder == nil {
		return queue, nil
	}
	d := &delays{
		TypedDelayingInterface: queue, pipeline: recorder, limiter: limiter,
		due: map[cache.ObjectName]time.Time{}, settling: map[cache.ObjectName]ended{},
	}
	return d, d
}

// AddAfter is called when a sync has ended, for a key that comes back by itself.
func (d *delays) AddAfter(key cache.ObjectName, after time.Duration) {
	if after > 0 {
		due := d.note(key, after)
		d.mu.Lock()
		sync := d.settling[key]
		d.mu.Unlock()
		if sync.retry {
			d.pipeline.Retrying(key, sync.syncID, d.limiter.NumRequeues(key), due)
		} else {
			d.pipeline.Delayed(key, sync.syncID, "look again", due)
		}
	}
	d.TypedDelayingInterface.AddAfter(key, after)
}

// addAfterEvent is AddAfter for a key that an event delays. Whether its last sync failed has nothing to do with that.
func (d *delays) addAfterEvent(key cache.ObjectName, after time.Duration) {
	d.pipeline.Delayed(key, 0, "more changes may follow", d.note(key, after))
	d.TypedDelayingInterface.AddAfter(key, after)
}

// settles says that the outcome of a sync of the key is being settled, until settled says that it has been.
func (d *delays) settles(key cache.ObjectName, syncID uint64, verdict Verdict) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settling[key] = ended{syncID: syncID, retry: verdict != Settled && verdict != Invalid}
}

func (d *delays) settled(key cache.ObjectName) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.settling, key)
}

// note remembers a delay as the work queue does: of two for one key the earlier counts. It returns when this
// one ends.
func (d *delays) note(key cache.ObjectName, after time.Duration) (due time.Time) {
	at := time.Now()
	due = at.Add(after)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.due) >= mostDelays && at.Sub(d.swept) > time.Second {
		d.sweep(at)
	}
	known, found := d.due[key]
	waits := found && known.After(at)
	if waits && known.Before(due) || !found && len(d.due) >= mostDelays {
		return due
	}
	d.due[key] = due
	return due
}

// sweep drops what is due by now.
func (d *delays) sweep(at time.Time) {
	for key, due := range d.due {
		if !due.After(at) {
			delete(d.due, key)
		}
	}
	d.swept = at
}

// delayed returns the keys that wait, the one that is due next first.
func (d *delays) delayed() []debug.Key {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	d.sweep(time.Now())
	keys := make([]debug.Key, 0, len(d.due))
	for key, due := range d.due {
		keys = append(keys, debug.Key{Name: debug.Name(key), State: debug.KeyDelayed, Due: &due, Failures: d.limiter.NumRequeues(key)})
	}
	d.mu.Unlock()
	slices.SortFunc(keys, func(a, b debug.Key) int {
		return cmp.Or(a.Due.Compare(*b.Due), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name.Name, b.Name.Name))
	})
	return keys
}
