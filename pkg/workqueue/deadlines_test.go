// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"

	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

func TestMaxWait(t *testing.T) {
	for event, want := range map[Event]time.Duration{
		Listed: 30 * time.Second, Resynced: 30 * time.Second, FanOut: 10 * time.Minute, Requeued: 5 * time.Second,
		Added: 0, Updated: 0, Deleted: 0, Retried: 0,
	} {
		if got := event.maxWait(); got != want {
			t.Errorf("maxWait of %s is %s, want %s", event, got, want)
		}
	}
}

// Of all triggers for which a key waits, the most urgent one counts, and of equal ones the first.
func TestNote(t *testing.T) {
	for _, test := range []struct {
		name   string
		events []Event
		want   Event
	}{
		{"none", nil, Retried},
		{"one", []Event{Listed}, Listed},
		{"more urgent", []Event{Listed, Updated}, Updated},
		{"less urgent", []Event{Updated, Resynced}, Updated},
		{"a resync does not hide a cause", []Event{Resynced, FanOut}, FanOut},
		{"a cause hides a resync", []Event{FanOut, Resynced}, FanOut},
		{"a retry does not hide a cause", []Event{Retried, Listed}, Listed},
		{"a cause hides a retry", []Event{Listed, Retried}, Listed},
		{"a look that is due does not hide a cause", []Event{Requeued, Listed}, Listed},
		{"a cause hides a look that is due", []Event{FanOut, Requeued}, FanOut},
		{"a look that is due is more urgent than a resync", []Event{Resynced, Requeued}, Requeued},
		{"a retry is more urgent than a resync", []Event{Resynced, Retried}, Retried},
		{"as urgent", []Event{Deleted, Added}, Deleted},
	} {
		for _, waits := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, waits %t", test.name, waits), func(t *testing.T) {
				d := newDeadlines(100, unobserved{})
				for i, event := range test.events {
					d.note(key("web"), because(event))
					if waits && i == 0 {
						d.Push(key("web"))
					} else if waits {
						d.Touch(key("web"))
					}
				}
				if d.Len() == 0 {
					d.Push(key("web"))
				}
				d.Pop()
				if got := d.popped(key("web")).Trigger; got.Event != test.want {
					t.Errorf("it is %s, want %s", got.Event, test.want)
				}
				if got := d.popped(key("web")).Trigger; got != (Trigger{}) {
					t.Errorf("asked again it is %s", got)
				}
			})
		}
	}
}

// Whichever trigger counts, the key keeps ForceFullSync if any trigger had it.
func TestForceFullSyncIsKept(t *testing.T) {
	forced := Trigger{Kind: "Secret", Event: Added, ForceFullSync: true}
	for _, other := range []Event{Listed, Updated, Resynced, Requeued, Retried} {
		for _, reasons := range [][]Trigger{{forced, because(other)}, {because(other), forced}} {
			noted, touched := newDeadlines(100, unobserved{}), newDeadlines(100, unobserved{})
			for i, reason := range reasons {
				noted.note(key("web"), reason)
				touched.note(key("web"), reason)
				if i == 0 {
					touched.Push(key("web"))
				}
			}
			noted.Push(key("web"))
			touched.Touch(key("web"))
			for name, d := range map[string]*deadlines{"at once": noted, "one after the other": touched} {
				d.Pop()
				if got := d.popped(key("web")).Trigger; !got.ForceFullSync {
					t.Errorf("%s, %s: it is only %s", reasons, name, got)
				}
			}
		}
	}
}

// A key that has waited for long is more urgent than a change of now. Touching it with a less urgent trigger does not
// move it back.
func TestTouchNeverPutsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDeadlines(100, unobserved{})
		d.note(key("listed"), because(Listed))
		d.Push(key("listed"))
		<-time.After(29 * time.Second)
		d.note(key("listed"), because(Resynced))
		d.Touch(key("listed"))
		<-time.After(2 * time.Second)
		d.note(key("changed"), because(Updated))
		d.Push(key("changed"))
		if got := d.Pop(); got != key("listed") {
			t.Errorf("next is %s", got)
		}
	})
}

// share is that of each namespace in TestOrder.
const share = 2

// model is the order as a list that is searched, and the keys that are being processed.
type model struct {
	waiting    []Waiting
	processing []cache.ObjectName
}

func (m *model) find(key cache.ObjectName) int {
	return slices.IndexFunc(m.waiting, func(w Waiting) bool { return w.Key == key })
}

// free returns how many more keys of a namespace may be processed.
func (m *model) free(namespace string) int {
	free := share
	for _, key := range m.processing {
		if key.Namespace == namespace {
			free--
		}
	}
	return free
}

// first returns the index of the next key, or -1.
func (m *model) first() int {
	first := -1
	for i, waiting := range m.waiting {
		if m.free(waiting.Key.Namespace) > 0 && (first < 0 || waiting.compare(m.waiting[first]) < 0) {
			first = i
		}
	}
	return first
}

// ready returns how many keys workers may take.
func (m *model) ready() int {
	waiting := map[string]int{}
	for _, w := range m.waiting {
		waiting[w.Key.Namespace]++
	}
	ready := 0
	for namespace, count := range waiting {
		ready += min(count, m.free(namespace))
	}
	return ready
}

// operation is what the test does to the queue, after a delay.
type operation struct {
	after time.Duration
	do    string
	key   cache.ObjectName
	event Event
}

func operations() *rapid.Generator[[]operation] {
	return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) operation {
		return operation{
			after: time.Duration(rapid.IntRange(0, 20).Draw(r, "seconds")) * time.Second,
			do:    rapid.SampledFrom([]string{"add", "add", "take", "done"}).Draw(r, "do"),
			key: cache.NewObjectName(
				rapid.SampledFrom([]string{"one", "two"}).Draw(r, "namespace"), fmt.Sprint(rapid.IntRange(0, 4).Draw(r, "name"))),
			event: rapid.SampledFrom([]Event{Listed, Updated, Resynced, Added}).Draw(r, "event"),
		}
	}), 1, 60)
}

// After any sequence of Push, Touch, Pop and done, the next key is the one with the earliest deadline in a namespace
// that has not used up its share, and each key waits only once.
func TestOrder(t *testing.T) {
	fixedseed.Check(t, func(r *rapid.T) {
		all := operations().Draw(r, "operations")
		// In a bubble time stands still. In real time, the deadlines of the model and the heap would differ.
		var failure string
		synctest.Test(t, func(*testing.T) { failure = compareWithModel(all) })
		if failure != "" {
			r.Fatal(failure)
		}
	})
}

func compareWithModel(operations []operation) (failure string) {
	d := newDeadlines(share, unobserved{})
	var m model
	for i, o := range operations {
		<-time.After(o.after)
		trigger := because(o.event)
		deadline := time.Now().Add(o.event.maxWait())
		at := m.find(o.key)
		switch {
		case o.do == "take":
			want := m.first()
			if want < 0 {
				continue
			}
			got := d.Pop()
			if trigger := d.popped(got).Trigger; got != m.waiting[want].Key || trigger != m.waiting[want].Trigger {
				return fmt.Sprintf("next is %s, want %+v", got, m.waiting[want])
			}
			m.waiting = slices.Delete(m.waiting, want, want+1)
			m.processing = append(m.processing, got)
		case o.do == "done":
			if len(m.processing) == 0 {
				continue
			}
			d.done(m.processing[0])
			m.processing = m.processing[1:]
		case slices.Contains(m.processing, o.key): // client-go's queue pushes it once it is done.
		case at >= 0:
			d.note(o.key, trigger)
			d.Touch(o.key)
			if trigger.outranks(m.waiting[at].Trigger) {
				m.waiting[at].Trigger = trigger
			}
			if deadline.Before(m.waiting[at].Deadline) {
				m.waiting[at].Deadline = deadline
			}
		default:
			d.note(o.key, trigger)
			d.Push(o.key)
			m.waiting = append(m.waiting, Waiting{Key: o.key, Trigger: trigger, Deadline: deadline, sequence: uint64(i)})
		}
		if d.Len() != m.ready() {
			return fmt.Sprintf("%d keys are ready, want %d", d.Len(), m.ready())
		}
	}
	return emptied(d, m)
}

// emptied takes all keys, and reports what the queue still remembers.
func emptied(d *deadlines, m model) (failure string) {
	for len(m.waiting)+len(m.processing) > 0 {
		for _, key := range m.processing {
			d.done(key)
		}
		m.processing = nil
		for m.first() >= 0 {
			at := m.first()
			if got := d.Pop(); got != m.waiting[at].Key {
				return fmt.Sprintf("next is %s, want %+v", got, m.waiting[at])
			}
			m.processing = append(m.processing, m.waiting[at].Key)
			m.waiting = slices.Delete(m.waiting, at, at+1)
		}
	}
	if len(d.namespaces) > 0 || len(d.open) > 0 || d.ready != 0 {
		return fmt.Sprintf("namespaces %v, open %v, %d ready, though no key is left", d.namespaces, d.open, d.ready)
	}
	return ""
}
