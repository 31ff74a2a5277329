// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// A namespace whose syncs take ten seconds each leaves workers to the others: their keys are taken at once.
func TestSlowNamespaceLeavesWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New("test", 2, nil)
		slow := func(i int) cache.ObjectName { return cache.NewObjectName("slow", fmt.Sprint(i)) }
		for i := range 100 {
			q.Add(slow(i), because(Updated))
		}
		var waited []time.Duration
		var mu sync.Mutex
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for {
					item, shutdown := q.Get()
					if shutdown {
						return
					}
					if item.Key.Namespace == "slow" {
						<-time.After(10 * time.Second)
					} else {
						mu.Lock()
						waited = append(waited, time.Since(item.Since))
						mu.Unlock()
					}
					q.Done(item.Key)
				}
			})
		}
		for range 60 {
			<-time.After(time.Second)
			q.Add(cache.NewObjectName("quick", "web"), because(Updated))
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(waited) != 60 {
			t.Errorf("%d changes were taken, want 60", len(waited))
		}
		for _, wait := range waited {
			if wait > 0 {
				t.Errorf("a change waited %s behind another namespace", wait)
			}
		}
		q.ShutDown()
		workers.Wait()
	})
}

// load has keys that are added while workers process others.
type load struct {
	after, takes time.Duration
	key          cache.ObjectName
}

func loads() *rapid.Generator[[]load] {
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) load {
		return load{
			after: time.Duration(rapid.IntRange(0, 2).Draw(r, "after")) * time.Second,
			takes: time.Duration(rapid.IntRange(0, 9).Draw(r, "takes")) * time.Second,
			key: cache.NewObjectName(
				rapid.SampledFrom([]string{"one", "two", "three"}).Draw(r, "namespace"), fmt.Sprint(rapid.IntRange(0, 9).Draw(r, "name"))),
		}
	}), 1, 50)
}

// Done wakes no worker for the key that it makes ready. Still no worker sleeps while there is a key that it may take,
// no namespace exceeds its share, and no key is lost.
func TestNoWorkerSleepsBesideAReadyKey(t *testing.T) {
	fixedseed.Check(t, func(r *rapid.T) {
		all := loads().Draw(r, "loads")
		workers := rapid.IntRange(1, 5).Draw(r, "workers")
		share := rapid.IntRange(1, 3).Draw(r, "share")
		var failure string
		synctest.Test(t, func(*testing.T) { failure = process(all, workers, share) })
		if failure != "" {
			r.Fatal(failure)
		}
	})
}

// process adds the keys to a queue with this many workers, and returns what went wrong.
func process(all []load, workers, share int) (failure string) {
	q := New("test", share, nil)
	var mu sync.Mutex
	busy, perNamespace, processed := 0, map[string]int{}, map[cache.ObjectName]int{}
	takes := map[cache.ObjectName]time.Duration{}
	for _, l := range all {
		takes[l.key] = l.takes
	}
	count := func(key cache.ObjectName, by int) {
		mu.Lock()
		defer mu.Unlock()
		busy += by
		perNamespace[key.Namespace] += by
		if by > 0 {
			processed[key]++
		}
		if perNamespace[key.Namespace] > share {
			failure = fmt.Sprintf("%d keys of %s are processed at once, want at most %d", perNamespace[key.Namespace], key.Namespace, share)
		}
	}
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for {
				item, shutdown := q.Get()
				if shutdown {
					return
				}
				count(item.Key, 1)
				<-time.After(takes[item.Key])
				count(item.Key, -1)
				q.Done(item.Key)
			}
		})
	}
	check := func() {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if q.Len() > 0 && busy < workers {
			failure = fmt.Sprintf("%d keys are ready, but only %d of %d workers are busy", q.Len(), busy, workers)
		}
	}
	for _, l := range all {
		<-time.After(l.after)
		q.Add(l.key, because(Updated))
		check()
	}
	for range 10 * len(all) {
		<-time.After(time.Second)
		check()
	}
	for key := range takes {
		if processed[key] == 0 {
			failure = fmt.Sprintf("%s was never processed", key)
		}
	}
	q.ShutDown()
	running.Wait()
	return failure
}
