// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

var (
	web         = cache.ObjectName{Namespace: "shop", Name: "web"}
	other       = cache.ObjectName{Namespace: "shop", Name: "other"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// fakeCaches have observed these versions and have these UIDs.
type fakeCaches struct {
	mu       sync.Mutex
	versions map[schema.GroupVersionResource]string
	shown    map[types.UID]bool
}

func (c *fakeCaches) LastResourceVersion(resource schema.GroupVersionResource, namespace string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if namespace != web.Namespace {
		return ""
	}
	return c.versions[resource]
}

func (c *fakeCaches) HasLive(_ schema.GroupVersionResource, _ cache.ObjectName, uid types.UID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown[uid]
}

func (c *fakeCaches) see(resource schema.GroupVersionResource, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.versions[resource] = version
}

func TestWritesMustBeSeen(t *testing.T) {
	for _, test := range []struct {
		name    string
		written []string // in this order
		seen    string
		stale   bool
	}{
		{"nothing was written", nil, "10", false},
		{"the cache is behind", []string{"12"}, "11", true},
		{"the cache has seen just that", []string{"12"}, "12", false},
		{"the cache is ahead", []string{"12"}, "13", false},
		{"versions are numbers, not words", []string{"100"}, "99", true},
		{"the last write counts", []string{"12", "15"}, "14", true},
		{"an answer that came late does not turn the clock back", []string{"15", "12"}, "14", true},
		{"both writes are seen", []string{"12", "15"}, "15", false},
		{"the cache cannot tell", []string{"12"}, "", false},
		{"the cache has only listed an empty store", []string{"12"}, "0", false},
		{"the cache says nonsense", []string{"12"}, "v12", false},
		{"what was written cannot be compared", []string{"abc"}, "11", false},
		{"no version came back", []string{""}, "11", false},
		{"nonsense does not hide a write before it", []string{"12", "abc"}, "11", true},
		{"nor one after it", []string{"", "12"}, "11", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := NewStore()
			for _, version := range test.written {
				store.WroteAt(web, deployments, version)
			}
			caches := &fakeCaches{versions: map[schema.GroupVersionResource]string{deployments: test.seen}}
			want := []schema.GroupVersionResource(nil)
			if test.stale {
				want = []schema.GroupVersionResource{deployments}
			}
			if diff := cmp.Diff(want, store.Stale(web, caches)); diff != "" {
				t.Errorf("stale (-want +got):\n%s", diff)
			}
			if kept := len(store.owners) > 0; kept != test.stale {
				t.Errorf("something is kept: %t, want %t", kept, test.stale)
			}
		})
	}
}

// Each resource has its own cache. A write that a cache has observed once needs no further proof.
func TestEachResourceWaitsForItself(t *testing.T) {
	store := NewStore()
	store.WroteAt(web, deployments, "12")
	store.WroteAt(web, services, "13")
	caches := &fakeCaches{versions: map[schema.GroupVersionResource]string{deployments: "12", services: "12"}}
	if got := store.Stale(web, caches); !slices.Equal(got, []schema.GroupVersionResource{services}) {
		t.Errorf("stale are %v, want the services", got)
	}
	// A new watch may show an older version for a moment; the cache has observed the write nevertheless.
	caches.see(deployments, "3")
	caches.see(services, "13")
	if got := store.Stale(web, caches); len(got) != 0 {
		t.Errorf("stale are %v, want none", got)
	}
}

func TestOwnersAreApart(t *testing.T) {
	store := NewStore()
	store.WroteAt(web, deployments, "12")
	caches := &fakeCaches{versions: map[schema.GroupVersionResource]string{deployments: "11"}}
	if got := store.Stale(other, caches); len(got) != 0 {
		t.Errorf("another owner waits for %v", got)
	}
}

func TestDeletionsMustBeSeen(t *testing.T) {
	store := NewStore()
	caches := &fakeCaches{shown: map[types.UID]bool{"uid-1": true}}
	store.Deleted(web, deployments, web, "uid-1")
	if got := store.Stale(web, caches); !slices.Equal(got, []schema.GroupVersionResource{deployments}) {
		t.Errorf("stale are %v while the cache shows what was deleted", got)
	}
	// Another object has the name now.
	caches.shown = map[types.UID]bool{"uid-2": true}
	if got := store.Stale(web, caches); len(got) != 0 {
		t.Errorf("stale are %v after the deletion was seen", got)
	}
	if len(store.owners) != 0 {
		t.Errorf("%d owners are kept, want none", len(store.owners))
	}
}

func TestClear(t *testing.T) {
	store := NewStore()
	store.WroteAt(web, deployments, "12")
	store.Deleted(web, services, web, "uid-1")
	store.WroteAt(other, deployments, "12")
	store.Clear(web)
	caches := &fakeCaches{
		versions: map[schema.GroupVersionResource]string{deployments: "11"},
		shown:    map[types.UID]bool{"uid-1": true},
	}
	if got := store.Stale(web, caches); len(got) != 0 {
		t.Errorf("a cleared owner waits for %v", got)
	}
	if got := store.Stale(other, caches); len(got) != 1 {
		t.Errorf("another owner waits for %v, want the deployments", got)
	}
	store.Clear(cache.ObjectName{Namespace: "shop", Name: "never-seen"})
}

// Many workers write for their own owners while the caches advance. No owner waits for another's write, none is
// consistent before its own write was observed, and nothing remains at the end.
func TestConcurrentOwners(t *testing.T) {
	const workers, writes = 8, 200
	store := NewStore()
	caches := &fakeCaches{versions: map[schema.GroupVersionResource]string{deployments: "1"}, shown: map[types.UID]bool{}}
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			owner := cache.ObjectName{Namespace: "shop", Name: "app-" + strconv.Itoa(worker)}
			for i := range writes {
				// The versions of one worker increase; across workers they are unique.
				version := strconv.Itoa(1_000_000*(worker+1) + i)
				store.WroteAt(owner, services, version)
				store.WroteAt(owner, deployments, version)
				if len(store.Stale(owner, caches)) == 0 {
					t.Errorf("%s is consistent before its write %s was observed", owner, version)
				}
				store.Deleted(owner, services, owner, types.UID(version))
			}
		})
	}
	all.Wait()
	caches.see(deployments, strconv.Itoa(1_000_000*(workers+1)))
	for worker := range workers {
		owner := cache.ObjectName{Namespace: "shop", Name: "app-" + strconv.Itoa(worker)}
		if got := store.Stale(owner, caches); len(got) != 0 {
			t.Errorf("%s still waits for %v", owner, got)
		}
	}
	if len(store.owners) != 0 {
		t.Errorf("%d owners are kept, want none", len(store.owners))
	}
}
