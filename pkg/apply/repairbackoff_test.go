// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/child"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const owner types.UID = "application-uid"

// The pause after each repair of a child that somebody changes back at once.
func TestPauses(t *testing.T) {
	c := NewRepairBackoff()
	at := noon
	for i, pause := range []time.Duration{
		0, 0, 0, 0, // A person who tries something is not kept waiting.
		5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second,
		80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute, 5 * time.Minute,
	} {
		c.Repaired(owner, ref(child.Deployment), at)
		held, next := c.InBackoff(owner, at)
		if next != pause || held[ref(child.Deployment)] != (pause > 0) {
			t.Errorf("after repair %d it is held %t for %s, want %s", i+1, held[ref(child.Deployment)], next, pause)
		}
		if pause > 0 {
			if _, next := c.InBackoff(owner, at.Add(pause-time.Millisecond)); next != time.Millisecond {
				t.Errorf("after repair %d, shortly before the end of the pause, it is held for %s", i+1, next)
			}
		}
		at = at.Add(pause)
		if held, next := c.InBackoff(owner, at); len(held) != 0 || next != 0 {
			t.Errorf("after repair %d and its pause %v is held for %s", i+1, held, next)
		}
	}
}

func TestPausesStayBounded(t *testing.T) {
	c := NewRepairBackoff()
	at := noon
	for range 1000 {
		c.Repaired(owner, ref(child.Deployment), at)
		_, next := c.InBackoff(owner, at)
		if next < 0 || next > 5*time.Minute {
			t.Fatalf("a pause of %s", next)
		}
		at = at.Add(next)
	}
}

// repair repairs the child so often that it is held.
func repair(c *RepairBackoff, uid types.UID, r child.Ref, at time.Time) {
	for range immediateRepairs {
		c.Repaired(uid, r, at)
	}
}

func TestCalmForgives(t *testing.T) {
	for _, test := range []struct {
		name  string
		after time.Duration
		want  time.Duration
	}{
		{"soon", time.Minute, 10 * time.Second},
		{"at the end of the resetAfter", 10 * time.Minute, 10 * time.Second},
		{"after the resetAfter", 10*time.Minute + time.Second, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := NewRepairBackoff()
			repair(c, owner, ref(child.Deployment), noon)
			at := noon.Add(test.after)
			c.Repaired(owner, ref(child.Deployment), at)
			if _, next := c.InBackoff(owner, at); next != test.want {
				t.Errorf("it is held for %s, want %s", next, test.want)
			}
		})
	}
}

func TestChildrenAndOwnersAreApart(t *testing.T) {
	c := NewRepairBackoff()
	repair(c, owner, ref(child.Deployment), noon)
	repair(c, owner, ref(child.Service), noon.Add(time.Second))
	c.Repaired(owner, ref(child.Ingress), noon)
	held, next := c.InBackoff(owner, noon.Add(time.Second))
	if len(held) != 2 || !held[ref(child.Deployment)] || !held[ref(child.Service)] {
		t.Errorf("held are %v, want the Deployment and the Service", held)
	}
	if next != 4*time.Second {
		t.Errorf("the first may be repaired in %s, want 4s: the Deployment", next)
	}
	// An Application that was deleted and made again has a new UID, and starts anew.
	if held, next := c.InBackoff("another-uid", noon); held != nil || next != 0 {
		t.Errorf("another owner has %v held for %s", held, next)
	}
}

// Nothing is kept of Applications that are gone, although nobody says so.
func TestSweep(t *testing.T) {
	c := NewRepairBackoff()
	for i := range 100 {
		c.Repaired(types.UID(fmt.Sprint(i)), ref(child.Deployment), noon)
	}
	c.Repaired("late", ref(child.Deployment), noon.Add(9*time.Minute))
	c.Repaired("late", ref(child.Service), noon.Add(11*time.Minute))
	if len(c.owners) != 1 || len(c.owners["late"]) != 2 {
		t.Errorf("kept are %d owners, want the late one", len(c.owners))
	}
}

func TestConcurrentRepairs(t *testing.T) {
	c := NewRepairBackoff()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			uid := types.UID(fmt.Sprint(worker % 4))
			for i := range 200 {
				at := noon.Add(time.Duration(i) * time.Minute)
				c.Repaired(uid, ref(child.Deployment), at)
				c.InBackoff(uid, at)
			}
		})
	}
	all.Wait()
	if held, _ := c.InBackoff("0", noon.Add(200*time.Minute)); !held[ref(child.Deployment)] {
		t.Error("what was repaired 400 times within minutes is not held")
	}
}

// The rendering that was applied last is remembered for as long as a repair would be, apart from
// the repairs.
func TestRenderings(t *testing.T) {
	c := NewRepairBackoff()
	if got := c.LastApplied(owner); len(got) != 0 {
		t.Errorf("at first it remembers %v", got)
	}
	c.Applied(owner, ref(child.Deployment), "one", noon)
	c.Applied(owner, ref(child.Deployment), "two", noon)
	c.Repaired(owner, ref(child.Service), noon)
	if got := c.LastApplied(owner); len(got) != 1 || got[ref(child.Deployment)] != "two" {
		t.Errorf("it remembers %v, want the second rendering of the Deployment", got)
	}
	if held, _ := c.InBackoff(owner, noon); len(held) != 0 {
		t.Errorf("what was applied is held: %v", held)
	}
	repair(c, owner, ref(child.Deployment), noon)
	if got := c.LastApplied(owner); got[ref(child.Deployment)] != "two" {
		t.Errorf("after repairs it remembers %v", got)
	}
	c.Repaired("late", ref(child.Service), noon.Add(resetAfter+time.Second))
	if got := c.LastApplied(owner); len(got) != 0 {
		t.Errorf("after the resetAfter it remembers %v", got)
	}
}
