// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/pkg/child"
)

const (
	// immediateRepairs is how many repairs of a child in a row have no delay. A user who edits a child stays below
	// it; another controller that insists on its value does not.
	immediateRepairs = 5
	// resetAfter is how long a child must stay unchanged before its repairs have no delay again.
	resetAfter = 10 * time.Minute
	// baseDelay is the first delay; each further one is twice as long, up to maxDelay.
	baseDelay = 5 * time.Second
	maxDelay  = 5 * time.Minute
)

// RepairBackoff delays the repairs of a child that another writer keeps reverting, so that two controllers that
// disagree do not write as fast as they can. It is safe for concurrent use.
type RepairBackoff struct {
	mu     sync.Mutex
	owners map[types.UID]map[child.Ref]*repairs
	swept  time.Time
}

type repairs struct {
	count int
	last  time.Time
	// hash is that of the rendering last applied, at applied, because the Application had changed.
	hash    string
	applied time.Time
}

// NewRepairBackoff returns an empty RepairBackoff.
func NewRepairBackoff() *RepairBackoff {
	return &RepairBackoff{owners: map[types.UID]map[child.Ref]*repairs{}}
}

// Repaired counts a repair of a child of the owner.
func (c *RepairBackoff) Repaired(owner types.UID, ref child.Ref, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(owner, ref, at)
	if at.Sub(r.last) > resetAfter {
		r.count = 0
	}
	r.count++
	r.last = at
}

// Applied records the rendering that was applied to a child of the owner because the Application had changed.
// Another writer may remove the hash from the child; without this record the rendering would look new at each
// sync, and the contention would go unnoticed.
func (c *RepairBackoff) Applied(owner types.UID, ref child.Ref, hash string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(owner, ref, at)
	r.hash = hash
	r.applied = at
}

// LastApplied returns the hashes that Applied recorded, as far as it still has them.
func (c *RepairBackoff) LastApplied(owner types.UID) map[child.Ref]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var hashes map[child.Ref]string
	for ref, r := range c.owners[owner] {
		if r.hash == "" {
			continue
		}
		if hashes == nil {
			hashes = map[child.Ref]string{}
		}
		hashes[ref] = r.hash
	}
	return hashes
}

// of returns the repairs of a child. The caller holds the lock.
func (c *RepairBackoff) of(owner types.UID, ref child.Ref, at time.Time) *repairs {
	c.sweep(at)
	children, found := c.owners[owner]
	if !found {
		children = map[child.Ref]*repairs{}
		c.owners[owner] = children
	}
	r, found := children[ref]
	if !found {
		r = &repairs{}
		children[ref] = r
	}
	return r
}

// InBackoff returns the children of the owner that must not be repaired now, and when the delay of the first of
// them ends.
func (c *RepairBackoff) InBackoff(owner types.UID, at time.Time) (backoff map[child.Ref]bool, next time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ref, r := range c.owners[owner] {
		left := r.last.Add(r.delay()).Sub(at)
		if left <= 0 {
			continue
		}
		if backoff == nil {
			backoff = map[child.Ref]bool{}
		}
		backoff[ref] = true
		if next == 0 || left < next {
			next = left
		}
	}
	return backoff, next
}

// delay returns the delay after the last repair.
func (r *repairs) delay() time.Duration {
	excess := r.count - immediateRepairs
	if excess < 0 {
		return 0
	}
	// Six doublings exceed maxDelay; more would overflow.
	return min(maxDelay, baseDelay<<min(excess, 6))
}

// sweep forgets children without recent repairs, so that nothing is kept of deleted Applications.
func (c *RepairBackoff) sweep(at time.Time) {
	if at.Sub(c.swept) < resetAfter {
		return
	}
	c.swept = at
	for owner, children := range c.owners {
		for ref, r := range children {
			if at.Sub(r.last) > resetAfter && at.Sub(r.applied) > resetAfter {
				delete(children, ref)
			}
		}
		if len(children) == 0 {
			delete(c.owners, owner)
		}
	}
}
