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
	// freeRepairs is how often in a row a child is repaired at once. A person who changes a child
	// by hand stays below it; another controller that insists on its value does not.
	freeRepairs = 5
	// calm is how long a child must stay untouched to be repaired at once again.
	calm = 10 * time.Minute
	// shortestHold is the first pause; each further one is twice as long, up to longestHold.
	shortestHold = 5 * time.Second
	longestHold  = 5 * time.Minute
)

// Contention notices children that somebody else keeps changing back, and spaces the repairs, so
// that two controllers which disagree do not write as fast as they can. It is safe for
// concurrent use.
type Contention struct {
	mu     sync.Mutex
	owners map[types.UID]map[child.Ref]*repairs
	swept  time.Time
}

type repairs struct {
	count int
	last  time.Time
	// hash is that of the rendering which was applied last because the Application had changed, at
	// applied.
	hash    string
	applied time.Time
}

// NewContention makes an empty Contention.
func NewContention() *Contention {
	return &Contention{owners: map[types.UID]map[child.Ref]*repairs{}}
}

// Repaired counts a repair of a child of the owner.
func (c *Contention) Repaired(owner types.UID, ref child.Ref, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(owner, ref, at)
	if at.Sub(r.last) > calm {
		r.count = 0
	}
	r.count++
	r.last = at
}

// Applied remembers the rendering that a child of the owner was brought to because the
// Application had changed. A rival may take the hash off the child again; then the rendering
// would look new at each sync, and the fight would go unnoticed.
func (c *Contention) Applied(owner types.UID, ref child.Ref, hash string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.of(owner, ref, at)
	r.hash = hash
	r.applied = at
}

// Renderings returns the hashes that Applied was told, as far as they are remembered.
func (c *Contention) Renderings(owner types.UID) map[child.Ref]string {
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

// of returns what is remembered of a child. The caller has the lock.
func (c *Contention) of(owner types.UID, ref child.Ref, at time.Time) *repairs {
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

// Held returns the children of the owner that are not to be repaired now, and when the first of
// them may be again.
func (c *Contention) Held(owner types.UID, at time.Time) (held map[child.Ref]bool, next time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ref, r := range c.owners[owner] {
		left := r.last.Add(r.hold()).Sub(at)
		if left <= 0 {
			continue
		}
		if held == nil {
			held = map[child.Ref]bool{}
		}
		held[ref] = true
		if next == 0 || left < next {
			next = left
		}
	}
	return held, next
}

// hold is the pause after the last repair.
func (r *repairs) hold() time.Duration {
	excess := r.count - freeRepairs
	if excess < 0 {
		return 0
	}
	// Six doublings pass longestHold; more would overflow some day.
	return min(longestHold, shortestHold<<min(excess, 6))
}

// sweep drops what is calm, now and then, so that nothing is kept of Applications that are gone.
func (c *Contention) sweep(at time.Time) {
	if at.Sub(c.swept) < calm {
		return
	}
	c.swept = at
	for owner, children := range c.owners {
		for ref, r := range children {
			if at.Sub(r.last) > calm && at.Sub(r.applied) > calm {
				delete(children, ref)
			}
		}
		if len(children) == 0 {
			delete(c.owners, owner)
		}
	}
}
