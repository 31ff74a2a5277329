// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package workqueue

import "time"

// Event is what happened to an object, and queued a key for it.
type Event string

const (
	// Listed: the object was in the initial list.
	Listed Event = "Listed"
	// Added: the object is new.
	Added Event = "Added"
	// Updated: the object changed.
	Updated Event = "Updated"
	// Deleted: the object is gone.
	Deleted Event = "Deleted"
	// FanOut: something changed that many keys have in common, such as their class.
	FanOut Event = "FanOut"
	// Resynced: nothing happened; the resync interval has passed.
	Resynced Event = "Resynced"
	// Requeued: the sync before this one asked for another after a while.
	Requeued Event = "Requeued"
	// Retried: the sync before this one did not succeed.
	Retried Event = "Retried"
)

// maxWait is how long a key may wait behind keys that were queued later. Work that no user waits for lets changes
// pass, but never for longer than this, so nothing starves.
func (e Event) maxWait() time.Duration {
	switch e {
	case Requeued:
		// It has waited anyway. On a busy API server a change comes first, then the status of the one before.
		return 5 * time.Second
	case Listed, Resynced:
		return 30 * time.Second
	case FanOut:
		// As long as all keys of a cluster may take. With less, the rest of them would be the most urgent ones by
		// then, and an edit would wait for them all.
		return 10 * time.Minute
	default:
		return 0
	}
}

// isChange reports whether an object changed; otherwise only time has passed.
func (e Event) isChange() bool { return e != Resynced && e != Requeued && e != Retried }

// Trigger is why a key was queued: the event, and the kind of its object.
type Trigger struct {
	Kind  string
	Event Event
	// ForceFullSync: the sync must not be skipped because the inputs that its fingerprint covers are unchanged.
	// The event was about an object outside of them.
	ForceFullSync bool
}

func (t Trigger) String() string { return t.Kind + string(t.Event) }

// merge is the trigger of a key that was queued for two.
func (t Trigger) merge(other Trigger) Trigger {
	merged := t
	if other.outranks(t) {
		merged = other
	}
	merged.ForceFullSync = t.ForceFullSync || other.ForceFullSync
	return merged
}

// outranks reports whether t, rather than other, is the reason to show and to order by: the more urgent one. But
// the passing of time never hides a change.
func (t Trigger) outranks(other Trigger) bool {
	if t.Event.isChange() != other.Event.isChange() {
		return t.Event.isChange()
	}
	return t.Event.maxWait() < other.Event.maxWait()
}
