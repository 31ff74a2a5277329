// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
)

// inQueue runs a test with a queue in a bubble.
func inQueue(t *testing.T, test func(t *testing.T, q *Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		q := New("test", 100_000, nil)
		defer q.ShutDown()
		test(t, q)
	})
}

func because(event Event) Trigger { return Trigger{Kind: "Application", Event: event} }

// take gets the next key as a worker does. A key must be ready.
func take(t *testing.T, q *Queue) (cache.ObjectName, Trigger) {
	t.Helper()
	synctest.Wait()
	if q.Len() == 0 {
		t.Fatal("no key waits")
	}
	item, _ := q.Get()
	return item.Key, item.Trigger
}

func wantNext(t *testing.T, q *Queue, want cache.ObjectName, trigger Trigger) {
	t.Helper()
	got, because := take(t, q)
	if got != want || because != trigger {
		t.Errorf("next is %s by %s, want %s by %s", got, because, want, trigger)
	}
}

// comesBack takes a key, and returns how long that took. In a bubble the time is exact, and if no key ever becomes
// ready, the bubble reports a deadlock.
func comesBack(t *testing.T, q *Queue, by Event) time.Duration {
	t.Helper()
	start := time.Now()
	item, _ := q.Get()
	if item.Trigger != (Trigger{Event: by}) {
		t.Errorf("%s came by %s", item.Key, item.Trigger)
	}
	return time.Since(start)
}

// comes reports whether a key is ready, or becomes so within an hour.
func comes(q *Queue) bool {
	pass(time.Hour)
	return q.Len() > 0
}

func TestKeyWaitsOnce(t *testing.T) {
	inQueue(t, func(t *testing.T, q *Queue) {
		for range 100 {
			q.Add(key("web"), because(Updated))
		}
		wantNext(t, q, key("web"), because(Updated))
		q.Done(key("web"))
		if comes(q) {
			t.Error("it came a second time")
		}
	})
}

// The next sync sees what happens during a sync, and the two never run at the same time.
func TestKeyComesBackAfterItsSync(t *testing.T) {
	inQueue(t, func(t *testing.T, q *Queue) {
		q.Add(key("web"), because(Listed))
		wantNext(t, q, key("web"), because(Listed))
		for range 100 {
			q.Add(key("web"), Trigger{Kind: "Service", Event: Updated})
		}
		if comes(q) {
			t.Fatal("it came while it was worked on")
		}
		q.Done(key("web"))
		wantNext(t, q, key("web"), Trigger{Kind: "Service", Event: Updated})
		q.Done(key("web"))
		if q.Len() != 0 {
			t.Error("it came a third time")
		}
	})
}

// A change after the start does not wait for 10,000 Applications that were only listed.
func TestChangedPassesListed(t *testing.T) {
	inQueue(t, func(t *testing.T, q *Queue) {
		for i := range 10_000 {
			q.Add(key(fmt.Sprintf("listed-%d", i)), because(Listed))
		}
		<-time.After(time.Second)
		q.Add(key("new"), because(Added))
		<-time.After(time.Second)
		// This key is already waiting, and becomes urgent.
		q.Add(key("listed-5000"), because(Updated))
		wantNext(t, q, key("new"), because(Added))
		wantNext(t, q, key("listed-5000"), because(Updated))
		wantNext(t, q, key("listed-0"), because(Listed))
		if q.Len() != 9_998 {
			t.Errorf("%d keys wait, want 9998", q.Len())
		}
	})
}

// Changes overtake a requeued key, unless it changes too, but only within its maxWait.
func TestChangedPassesRequeued(t *testing.T) {
	inQueue(t, func(t *testing.T, q *Queue) {
		for _, name := range []string{"due", "due-and-changed"} {
			q.AddAfter(key(name), Trigger{Event: Requeued}, time.Second)
		}
		<-time.After(2 * time.Second)
		q.Add(key("changed"), because(Updated))
		<-time.After(time.Second)
		q.Add(key("due-and-changed"), because(Updated))
		wantNext(t, q, key("changed"), because(Updated))
		wantNext(t, q, key("due-and-changed"), because(Updated))
		<-time.After(5 * time.Second)
		q.Add(key("changed-later"), because(Updated))
		wantNext(t, q, key("due"), Trigger{Event: Requeued})
		wantNext(t, q, key("changed-later"), because(Updated))
	})
}

// Handlers that queue one key at the same time each leave their own trigger. Without one, the key would look like a
// retry, and overtake all others.
func TestReasonsOfConcurrentHandlers(t *testing.T) {
	for range 500 {
		inQueue(t, func(t *testing.T, q *Queue) {
			for range 8 {
				go q.Add(key("web"), because(Listed))
			}
			wantNext(t, q, key("web"), because(Listed))
		})
		if t.Failed() {
			return
		}
	}
}

// When there are more changes than the worker can process, a listed key waits, but only for its maxWait.
func TestF13ListedIsNotStarved(t *testing.T) {
	inQueue(t, func(t *testing.T, q *Queue) {
		start := time.Now()
		q.Add(key("listed"), because(Listed))
		for i := range 10_000 {
			for j := range 2 {
				q.Add(key(fmt.Sprintf("changed-%d-%d", i, j)), because(Updated))
			}
			next, _ := take(t, q)
			q.Done(next)
			if next == key("listed") {
				break
			}
			<-time.After(10 * time.Millisecond)
		}
		// At its deadline about 3,000 older changes remain, which take 10 ms each.
		if waited := time.Since(start); waited < 30*time.Second || waited > 61*time.Second {
			t.Errorf("it waited %s", waited)
		}
	})
}

// A failing key is retried after 50 ms, then twice that, and so on up to 30 s, each time up to a fifth later. It is
// never dropped.
func TestBackOff(t *testing.T) {
	inQueue(t, func(t *testing.T, q *Queue) {
		q.Add(key("web"), because(Added))
		take(t, q)
		fails := func(want time.Duration) {
			t.Helper()
			q.Retry(key("web"), 0)
			q.Done(key("web"))
			if delay := comesBack(t, q, Retried); delay < want || delay > want+want/5 {
				t.Errorf("after %d failures it came back after %s, want %s and up to a fifth more", q.Failures(key("web")), delay, want)
			}
		}
		want := 50 * time.Millisecond
		for range 100 {
			fails(want)
			want = min(2*want, 30*time.Second)
		}
		q.Forget(key("web"))
		fails(50 * time.Millisecond)
	})
}

// Keys that failed together are not retried together.
func TestJitter(t *testing.T) {
	inQueue(t, func(t *testing.T, q *Queue) {
		const keys = 1000
		for i := range keys {
			q.Retry(key(fmt.Sprint(i)), 0)
		}
		<-time.After(baseDelay + baseDelay/10)
		synctest.Wait()
		if half := q.Len(); half < keys/4 || half > keys*3/4 {
			t.Errorf("%d of %d keys are back in the middle of the jitter", half, keys)
		}
		<-time.After(baseDelay / 10)
		synctest.Wait()
		if q.Len() != keys {
			t.Errorf("%d of %d keys are back after the longest delay", q.Len(), keys)
		}
	})
}

// A failing key that changes is retried at once.
func TestChangePassesBackOff(t *testing.T) {
	inQueue(t, func(t *testing.T, q *Queue) {
		for range 20 {
			q.Retry(key("web"), 0)
		}
		<-time.After(time.Minute)
		take(t, q)
		q.Retry(key("web"), 0)
		q.Done(key("web"))
		q.Add(key("web"), because(Updated))
		wantNext(t, q, key("web"), because(Updated))
		q.Done(key("web"))
		if delay := comesBack(t, q, Retried); delay < 30*time.Second {
			t.Errorf("the retry came after %s", delay)
		}
	})
}

func key(name string) cache.ObjectName { return cache.ObjectName{Namespace: "shop", Name: name} }

// pass lets time pass in a bubble, until every goroutine has done what was due by then.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
