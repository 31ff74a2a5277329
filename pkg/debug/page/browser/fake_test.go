// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/pkg/debug"
	"fairlead.dev/fairlead/pkg/debug/live"
	"fairlead.dev/fairlead/pkg/debug/page"
)

// fake is a recorder that says what it is told to, behind the real handler. It begins with the golden examples of
// pkg/debug: an Application shop/web at rest after one sync, and shop/broken, which fails.
type fake struct {
	server *httptest.Server

	mu       sync.Mutex
	handler  *live.Handler // nil while it is down
	snapshot debug.Snapshot
	timeline debug.Timeline
	queue    debug.Queue
	cache    debug.CachePage
	events   []debug.Event
	lookups  []debug.Lookup
}

var _ live.Source = (*fake)(nil)

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{}
	golden(t, "snapshot", &f.snapshot)
	golden(t, "timeline", &f.timeline)
	golden(t, "queue", &f.queue)
	golden(t, "cache", &f.cache)
	f.events = f.snapshot.Events
	f.server = httptest.NewServer(f)
	f.restart(f.snapshot.Instance)
	t.Cleanup(func() {
		f.stop()
		f.server.Close()
	})
	return f
}

// golden reads one of the examples of pkg/debug.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatalf("%s.json: %v", name, err)
	}
}

func (f *fake) url() string { return f.server.URL + live.Root }

// ServeHTTP is the handler, or what a proxy says while there is none.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	handler := f.handler
	f.mu.Unlock()
	if handler == nil {
		http.Error(w, "no controller", http.StatusServiceUnavailable)
		return
	}
	handler.ServeHTTP(w, r)
}

// stop hangs up. Everybody is refused until restart.
func (f *fake) stop() {
	f.mu.Lock()
	handler := f.handler
	f.handler = nil
	f.mu.Unlock()
	if handler != nil {
		handler.Close()
	}
	f.server.CloseClientConnections()
}

// restart serves, as the instance. A new one knows nothing of what was before.
func (f *fake) restart(instance string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if instance != f.snapshot.Instance {
		f.snapshot.Instance, f.snapshot.Sequence, f.events = instance, 0, nil
	}
	f.handler = live.New(f, live.Options{Page: page.Files()})
}

// publish adds events, each a millisecond after the one before.
func (f *fake) publish(events ...debug.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, event := range events {
		f.snapshot.Sequence++
		f.snapshot.Time = f.snapshot.Time.Add(time.Millisecond)
		event.Sequence, event.Time = f.snapshot.Sequence, f.snapshot.Time
		f.events = append(f.events, event)
	}
	for i := range f.snapshot.Stages {
		f.snapshot.Stages[i].Total += uint64(len(events))
	}
}

func (f *fake) Viewing() (end func()) { return func() {} }

func (f *fake) Snapshot() debug.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	snapshot := f.snapshot
	snapshot.Stages = append([]debug.Stage(nil), snapshot.Stages...)
	snapshot.Oldest = 1
	snapshot.Events = f.events[max(0, len(f.events)-200):]
	return snapshot
}

func (f *fake) Events(filter debug.Filter) debug.EventList {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := debug.EventList{Version: debug.Version, Instance: f.snapshot.Instance, Time: f.snapshot.Time, Sequence: f.snapshot.Sequence}
	for _, event := range f.events {
		if event.Sequence > filter.Since {
			list.Events = append(list.Events, event)
		}
	}
	return list
}

func (f *fake) Keys(filter debug.KeyFilter) debug.KeyList {
	f.mu.Lock()
	defer f.mu.Unlock()
	resting := debug.Key{Name: debug.Name{Namespace: "shop", Name: "resting"}, State: debug.KeyIdle}
	list := debug.KeyList{Version: debug.Version, Instance: f.snapshot.Instance, Time: f.snapshot.Time, Keys: []debug.Key{}}
	for _, key := range append([]debug.Key{f.timeline.Key, resting}, f.snapshot.Failing...) {
		if (filter.Namespace == "" || filter.Namespace == key.Namespace) && contains(key.Name, filter.Contains) {
			list.Keys = append(list.Keys, key)
		}
	}
	list.Total = len(list.Keys)
	return list
}

func (f *fake) Timeline(key debug.Name) (debug.Timeline, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.timeline, key == f.timeline.Key.Name
}

func (f *fake) Queue(int) debug.Queue {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.queue
}

func (f *fake) Caches() debug.CacheList {
	return debug.CacheList{Version: debug.Version, Resources: f.Snapshot().Resources}
}

func (f *fake) Cache(resource string, lookup debug.Lookup) (debug.CachePage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookups = append(f.lookups, lookup)
	if resource == "secrets" {
		return debug.CachePage{}, debug.ErrNotShown
	}
	return f.cache, nil
}

func (f *fake) CachedObject(string, debug.Name) (debug.CachePage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.cache
	one.Objects = append([]debug.CachedObject(nil), one.Objects...)
	one.Objects[0].Object = map[string]any{"kind": "Deployment", "spec": map[string]any{"replicas": 2, "template": "redacted"}}
	return one, nil
}
