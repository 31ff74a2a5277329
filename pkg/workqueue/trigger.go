// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package workqueue

import "time"

// Event is what queued a key, mostly an event of an object.
type Event string

const (
	// Listed means that the object was in the initial list.
	Listed Event = "Listed"
	// Added means that the object is new.
	Added Event = "Added"
	// Updated means that the object changed.
	Updated Event = "Updated"
	// Deleted means that the object was deleted.
	Deleted Event = "Deleted"
	// FanOut means that something changed that many keys share, such as their class.
	FanOut Event = "FanOut"
	// Resynced means that nothing happened but the end of the resync interval.
	Resynced Event = "Resynced"
	// Requeued means that the previous sync asked for another one after a delay.
	Requeued Event = "Requeued"
	// Retried means that the previous sync did not succeed.
	Retried Event = "Retried"
)

// maxWait returns how long a key may wait behind keys that were queued later. Changes overtake work that no user
// waits for, but only within this time, so that nothing starves.
func (e Event) maxWait() time.Duration {
	switch e {
	case Requeued:
		// The key was delayed anyway. On a busy API server a change comes first, then the status of an earlier one.
		return 5 * time.Second
	case Listed, Resynced:
		return 30 * time.Second
	case FanOut:
		// All keys of a cluster may take this long. With less, the remaining keys would become the most urgent ones, and
		// an edit would wait for all of them.
		return 10 * time.Minute
	default:
		return 0
	}
}

// isChange reports whether an object changed. Otherwise only time has passed.
func (e Event) isChange() bool { return e != Resynced && e != Requeued && e != Retried }

// Trigger is why a key was queued: the event, and the kind of its object.
type Trigger struct {
	Kind  string
	Event Event
	// ForceFullSync means that the sync must run even if the inputs in its fingerprint are unchanged, because the
	// event was about an object outside them.
	ForceFullSync bool
}

func (t Trigger) String() string { return t.Kind + string(t.Event) }

// merge returns the trigger of a key that was queued for both.
func (t Trigger) merge(other Trigger) Trigger {
	merged := t
	if other.outranks(t) {
		merged = other
	}
	merged.ForceFullSync = t.ForceFullSync || other.ForceFullSync
	return merged
}

// outranks reports whether t, rather than other, determines the order and the trigger that is shown: the more urgent
// one does. But the passing of time never hides a change.
func (t Trigger) outranks(other Trigger) bool {
	if t.Event.isChange() != other.Event.isChange() {
		return t.Event.isChange()
	}
	return t.Event.maxWait() < other.Event.maxWait()
}
