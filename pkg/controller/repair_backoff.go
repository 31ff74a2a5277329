// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/plan"
)

// Two controllers that disagree about a child must not keep writing without a pause. So repairs of a child back off.
const (
	// immediateRepairs is the number of consecutive repairs without a delay. A user who changes a child by hand stays
	// below it; a controller that keeps restoring its value does not.
	immediateRepairs = 5
	// resetAfter is how long a child must stay unchanged before repairs have no delay again.
	resetAfter = 10 * time.Minute
	// After immediateRepairs, the next repair waits for repairBaseDelay, and each further one twice as long as the one
	// before, up to repairMaxDelay.
	repairBaseDelay = 5 * time.Second
	repairMaxDelay  = 5 * time.Minute
	// maxChangedFields limits how many fields of a child are remembered. Messages name fewer.
	maxChangedFields = 64
)

// repairs counts the repairs of one child. Changes and deletions count apart: after a fight over a field, a user who deletes the
// child has it back at once, and does not wait for a writer that may be gone.
type repairs struct {
	changes, deletions repeated
	// fields are how often each field was repaired among these changes.
	fields map[string]int
	// applied is the hash of the last rendering that was applied because the Application changed. If another writer
	// removes the hash from the child, the rendering would look new at each sync, and no repair would be counted.
	applied string
}

// repeated counts repairs of one sort.
type repeated struct {
	count int
	last  time.Time
}

// add counts a repair.
func (r *repeated) add(now time.Time) {
	if now.Sub(r.last) > resetAfter {
		r.count = 0
	}
	r.count++
	r.last = now
}

// left returns how long the next repair has to wait yet; 0 or less means that it need not.
func (r *repeated) left(now time.Time) time.Duration { return r.last.Add(r.delay()).Sub(now) }

// delay returns how long the next repair waits.
func (r *repeated) delay() time.Duration {
	excess := r.count - immediateRepairs
	if excess < 0 {
		return 0
	}
	// Six doublings exceed repairMaxDelay; more would overflow some day.
	return min(repairMaxDelay, repairBaseDelay<<min(excess, 6))
}

// view is the part of the memory that the plan needs.
type view struct {
	// inBackoff are the children whose changes must not be repaired now, and createBackoff those that must not be created again.
	// backoff is the time until the first of them may be, or 0.
	inBackoff, createBackoff map[child.Ref]bool
	backoff                  time.Duration
	// changed are, for the children inBackoff, how often each field was repaired.
	changed map[child.Ref]map[string]int
	// lastApplied are the hashes of the renderings that were applied to children.
	lastApplied map[child.Ref]string
	// written are the last writes to children.
	written map[child.Ref]plan.Written
}

// view returns the repairs of an Application.
func (m *memory) view(key cache.ObjectName, uid types.UID, now time.Time) view {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, found := m.applications[key]
	if !found || r.uid != uid || len(r.repairs)+len(r.written) == 0 {
		return view{}
	}
	v := view{
		written:   maps.Clone(r.written),
		inBackoff: map[child.Ref]bool{}, createBackoff: map[child.Ref]bool{}, lastApplied: map[child.Ref]string{},
		changed: map[child.Ref]map[string]int{},
	}
	for ref, repairs := range r.repairs {
		if repairs.applied != "" {
			v.lastApplied[ref] = repairs.applied
		}
		if left := repairs.changes.left(now); left > 0 {
			v.inBackoff[ref], v.changed[ref] = true, maps.Clone(repairs.fields)
			v.backoff = minNonZero(v.backoff, left)
		}
		if left := repairs.deletions.left(now); left > 0 {
			v.createBackoff[ref] = true
			v.backoff = minNonZero(v.backoff, left)
		}
	}
	return v
}

// executed remembers the writes of a sync.
func (m *memory) executed(application *v1.Application, results []plan.Result, now time.Time) {
	for _, result := range results {
		done := result.Done()
		m.wrote(application, result)
		if done.Action == plan.Create {
			m.created(application, result.Ref, now)
		}
		switch {
		case !result.Changed():
		case done.Drift && done.Action == plan.Create:
			m.recreated(application, result.Ref, now)
		case done.Drift:
			m.repaired(application, result.Ref, now, done.Fields...)
		case done.Action == plan.Apply, done.Action == plan.Scale, done.Action == plan.Adopt:
			m.applied(application, result.Ref, done.Rendering())
		}
	}
}

// wrote remembers the write of a child until a sync finds that it is as rendered.
func (m *memory) wrote(application *v1.Application, result plan.Result) {
	written, wrote := result.Written()
	if !wrote && result.Done().Action != plan.Keep {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r := m.repairsFor(application); {
	case wrote && r.written == nil:
		r.written = map[child.Ref]plan.Written{result.Ref: written}
	case wrote:
		r.written[result.Ref] = written
	default:
		delete(r.written, result.Ref)
	}
}

// repaired counts the repair of a child, and of the fields that another writer changed.
func (m *memory) repaired(application *v1.Application, ref child.Ref, now time.Time, fields ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.repairsOf(application, ref)
	r.changes.add(now)
	if r.changes.count == 1 || r.fields == nil {
		r.fields = map[string]int{}
	}
	for _, name := range fields {
		if r.fields[name] > 0 || len(r.fields) < maxChangedFields {
			r.fields[name]++
		}
	}
}

// contendedFields returns, for each child whose repair backs off, the fields that another writer changed more than once: those that
// differ now, or else those of earlier repairs. A field that another client changed once does not cause a backoff alone. If each was
// changed once, the entry is empty. A child without a known changed field has no entry.
func (v view) contendedFields(results []plan.Result) map[child.Ref][]string {
	var contended map[child.Ref][]string
	for _, result := range results {
		if result.Action != plan.Backoff || len(result.Fields) == 0 {
			continue
		}
		repaired := v.changed[result.Ref]
		// A field that was repaired and differs again was changed twice.
		fields := slices.DeleteFunc(slices.Clone(result.Fields), func(name string) bool { return repaired[name] == 0 })
		if len(fields) == 0 {
			fields = slices.DeleteFunc(slices.Sorted(maps.Keys(repaired)), func(name string) bool { return repaired[name] < 2 })
		}
		if len(repaired) > 0 {
			if contended == nil {
				contended = map[child.Ref][]string{}
			}
			contended[result.Ref] = fields
		}
	}
	return contended
}

// recreated counts the repair of a child that another writer deleted.
func (m *memory) recreated(application *v1.Application, ref child.Ref, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repairsOf(application, ref).deletions.add(now)
}

// applied remembers the rendering that was applied to a child.
func (m *memory) applied(application *v1.Application, ref child.Ref, rendering string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repairsOf(application, ref).applied = rendering
}

// repairsOf returns the repairs of a child, to change them. The caller has the lock.
func (m *memory) repairsOf(application *v1.Application, ref child.Ref) *repairs {
	remembered := m.repairsFor(application)
	if remembered.repairs == nil {
		remembered.repairs = map[child.Ref]*repairs{}
	}
	r, found := remembered.repairs[ref]
	if !found {
		r = &repairs{}
		remembered.repairs[ref] = r
	}
	return r
}

// repairsFor returns the state of the Application, without repairs of another one of its name. The caller has the lock.
func (m *memory) repairsFor(application *v1.Application) *remembered {
	remembered := m.of(cache.MetaObjectToName(application))
	if remembered.uid != application.UID {
		remembered.uid, remembered.repairs, remembered.written = application.UID, nil, nil
	}
	return remembered
}

// minNonZero returns the shortest duration, where 0 means never.
func minNonZero(durations ...time.Duration) time.Duration {
	var shortest time.Duration
	for _, d := range durations {
		if d > 0 && (shortest == 0 || d < shortest) {
			shortest = d
		}
	}
	return shortest
}
