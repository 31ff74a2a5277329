// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package debug

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/tools/cache"
)

// roleApplications is the role of the informers whose objects are the keys.
const roleApplications = "applications"

// goneAfter is how long the last sync of a deleted Application remains among the keys. Its timeline remains as long as
// its events.
const goneAfter = 10 * time.Second

// Keys returns the keys that match: of cached Applications, of the queue, and of recent syncs.
func (r *Recorder) Keys(filter KeyFilter) KeyList {
	list := KeyList{Version: Version, Instance: r.instance, Time: time.Now().UTC(), Keys: []Key{}}
	known, exists := r.knownKeys()
	for _, key := range known {
		gone := !exists(key.Name) && key.State == KeyIdle && (key.LastSync == nil || time.Since(*key.LastSync) > goneAfter)
		if !gone && key.matches(filter) {
			list.Keys = append(list.Keys, key)
		}
	}
	slices.SortFunc(list.Keys, func(a, b Key) int {
		return cmp.Or(
			cmp.Compare(rankOf(a), rankOf(b)),
			cmp.Compare(b.Failures, a.Failures),
			byName(a, b),
		)
	})
	list.Total = len(list.Keys)
	if filter.Limit > 0 && list.Total > filter.Limit {
		list.Keys = list.Keys[:filter.Limit]
	}
	return list
}

// knownKeys returns all known keys. exists reports whether the cache has the Application; without a cache it reports
// true.
func (r *Recorder) knownKeys() (known map[Name]Key, exists func(Name) bool) {
	state := r.queueState(queueScan)
	positions := state.byKey()
	known = r.lastSyncs()
	for name := range positions {
		if _, found := known[name]; !found {
			known[name] = Key{Name: name}
		}
	}
	cached, hasCache := map[Name]bool{}, false
	for _, rr := range r.all() {
		if rr.Role != roleApplications {
			continue
		}
		indexer := r.indexerOf(rr)
		if indexer == nil {
			continue
		}
		hasCache = true
		for _, text := range indexer.ListKeys() {
			name, err := cache.ParseObjectName(text)
			if err != nil {
				continue
			}
			cached[Name(name)] = true
			if _, found := known[Name(name)]; !found {
				known[Name(name)] = Key{Name: Name(name)}
			}
		}
	}
	for name, key := range known {
		key.place(positions)
		known[name] = key
	}
	return known, func(name Name) bool { return cached[name] || !hasCache }
}

func rankOf(key Key) int {
	switch {
	case key.Failures > 0:
		return 0
	case key.State == KeyIdle, key.State == KeyDelayed:
		return 2
	default:
		return 1
	}
}

func (k *Key) matches(filter KeyFilter) bool {
	return (filter.Namespace == "" || k.Namespace == filter.Namespace) &&
		(filter.Contains == "" || strings.Contains(k.Name.Name, filter.Contains)) &&
		(filter.State == "" || k.State == filter.State) &&
		(!filter.Failing || k.Failures > 0)
}

// lastSyncs returns the last sync of each key that has one.
func (r *Recorder) lastSyncs() map[Name]Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := map[Name]Key{}
	for _, ring := range []*ring{&r.routine, &r.notable} {
		ring.newest(func(rec *record) bool {
			if rec.key.Name == "" {
				return true
			}
			name := Name(rec.key)
			key := known[name]
			key.Name = name
			if rec.kind == TypeSynced {
				key.Syncs++
				if at := timeOf(rec.at); key.LastSync == nil || at.After(*key.LastSync) {
					key.LastSync, key.Verdict, key.Error = &at, rec.result, rec.problem
				}
			}
			known[name] = key
			return true
		})
	}
	for name, f := range r.failing {
		key := known[Name(name)]
		key.Name, key.Failures = Name(name), max(1, int(f.failures))
		key.LastSync, key.Verdict, key.Error = optionalTime(f.at), f.verdict, f.problem
		known[Name(name)] = key
	}
	return known
}

// Timeline returns all events of one key.
func (r *Recorder) Timeline(name Name) (Timeline, bool) {
	known, _ := r.knownKeys()
	key, found := known[name]
	if !found {
		return Timeline{}, false
	}
	events := r.Events(Filter{Namespace: name.Namespace, Name: name.Name})
	return Timeline{
		Version: Version, Instance: r.instance, Time: events.Time, Sequence: events.Sequence, Key: key,
		Truncated: events.Truncated, Syncs: syncsOf(events.Events), Events: events.Events,
	}, true
}

// syncsOf summarizes the events of each sync.
func syncsOf(events []Event) []Sync {
	syncs := []Sync{}
	// open is the last sync; no two workers process one key at the same time.
	var open *Sync
	for i := range events {
		event := &events[i]
		switch {
		case event.Type == TypeStarted:
			syncs = append(syncs, Sync{ID: event.Sequence, Started: event.Time, Trigger: event.Reason, Waited: event.Milliseconds, Stages: []StageTime{}, TraceID: event.TraceID})
			open = &syncs[len(syncs)-1]
		case open != nil && event.Sync == open.ID:
			open.add(event)
		}
	}
	return syncs
}

func (s *Sync) add(event *Event) {
	switch event.Type {
	case TypeStep:
		s.Steps++
		return
	case TypeWrote:
		s.Writes++
		if isStatus(event.Resource) {
			return // The stage status has its time.
		}
	case TypeStatus:
		s.Status = event.Result
	case TypeSynced:
		s.Took, s.Verdict, s.Error = &event.Milliseconds, event.Result, event.Error
		return
	case TypeDelayed, TypeRetrying: // The outcome caused it.
		s.Next = event.Due
		return
	}
	if last := len(s.Stages) - 1; last >= 0 && s.Stages[last].Stage == event.Stage {
		s.Stages[last].Milliseconds += event.Milliseconds
		return
	}
	s.Stages = append(s.Stages, StageTime{event.Stage, event.Milliseconds})
}
