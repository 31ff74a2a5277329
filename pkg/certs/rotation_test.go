// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/klog/v2"
	"pgregory.net/rapid"

	"fairlead.dev/fairlead/pkg/testing/fixedseed"
)

// shared stands for the Secret: all replicas share it, and it has a version.
type shared struct {
	data    map[string][]byte
	version int
	writes  int
}

// replica is the Store of one process on top of shared.
type replica struct {
	serving
	shared *shared
}

func (r *replica) load(context.Context) (stored, error) {
	return stored{data: r.shared.data, version: r.shared.version}, nil
}

func (r *replica) save(_ context.Context, loaded stored, data map[string][]byte) error {
	if loaded.version != r.shared.version {
		return errConflict
	}
	r.shared.data = maps.Clone(data)
	r.shared.version++
	r.shared.writes++
	return nil
}

// observe does what the watch of a replica does.
func (r *replica) observe(now time.Time) {
	if bundle, _ := decode(r.shared.data); bundle.Leaf.Key != nil {
		_ = r.serve(bundle, now) // Refusing is part of what is tried.
	}
}

// world is two replicas, one of which leads, and an API server that has one webhook configuration.
type world struct {
	now      time.Time
	shared   *shared
	replicas []*replica
	rotators []*Rotator
	caBundle []byte
	leader   int
}

func newWorld(t *rapid.T) *world {
	w := &world{now: start, shared: &shared{}}
	configuration := Configuration{
		kind: "test",
		get: func(context.Context) ([]hook, error) {
			h := hook{name: "w"}
			h.client.CABundle = w.caBundle
			return []hook{h}, nil
		},
		patch: func(_ context.Context, patch []byte) error {
			var operations []struct {
				Op    string
				Value json.RawMessage
			}
			if err := json.Unmarshal(patch, &operations); err != nil {
				return err
			}
			return json.Unmarshal(operations[1].Value, &w.caBundle)
		},
	}
	for i := range 2 {
		store := &replica{serving: serving{name: fmt.Sprintf("replica %d", i)}, shared: w.shared}
		rotator, err := NewRotator(Config{Store: store, Names: testNames, Policy: DefaultPolicy(), Configurations: []Configuration{configuration}})
		if err != nil {
			t.Fatal(err)
		}
		w.replicas, w.rotators = append(w.replicas, store), append(w.rotators, rotator)
	}
	return w
}

// settle lets the leader act until it has nothing left to do at this moment. After each step, the API server may
// still have the previous caBundle, and a replica may still serve its previous leaf.
func (w *world) settle(ctx context.Context, t *rapid.T) {
	before := w.shared.writes
	for steps := 0; ; steps++ {
		if steps > 5 {
			t.Fatalf("not finished after %d steps", steps)
		}
		old, oldServed := w.caBundle, w.accepted(w.caBundle)
		done, delay, err := w.rotators[w.leader].step(ctx, w.now)
		if err != nil {
			t.Fatal(err)
		}
		for i, was := range oldServed {
			if !was {
				continue // The clock, or somebody, had broken it before.
			}
			if !w.accepted(old)[i] {
				t.Fatalf("replica %d serves what an API server with the caBundle of before refuses", i)
			}
			if !w.accepted(w.caBundle)[i] {
				t.Fatalf("replica %d serves what the new caBundle refuses", i)
			}
		}
		if done {
			if delay <= 0 {
				t.Fatalf("asked to look again after %s", delay)
			}
			break
		}
	}
	if writes := w.shared.writes - before; writes > 3 {
		t.Fatalf("%d writes at one moment: a storm", writes)
	}
}

// accepted reports for each replica whether a request to it succeeds now.
func (w *world) accepted(caBundle []byte) []bool {
	var accepted []bool
	for _, r := range w.replicas {
		leaf := r.last().Leaf.Certificate
		accepted = append(accepted, leaf != nil && trusts(caBundle, leaf, w.now) == nil)
	}
	return accepted
}

// advance moves the clock, mostly forward, by anything from seconds to years.
func (w *world) advance(t *rapid.T) {
	unit := rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour, day, day, 30 * day}).Draw(t, "unit")
	w.now = w.now.Add(time.Duration(rapid.IntRange(-3, 15).Draw(t, "units")) * unit)
}

// damage breaks the stored bundle in one of the ways in which people do.
func (w *world) damage(t *rapid.T) {
	key := rapid.SampledFrom(keys()).Draw(t, "key")
	data := maps.Clone(w.shared.data)
	switch kind := rapid.SampledFrom([]string{"deleted", "emptied", "key lost", "garbled", "truncated", "swapped"}).Draw(t, "kind"); kind {
	case "deleted":
		data = nil
	case "emptied":
		data = map[string][]byte{}
	case "key lost":
		delete(data, key)
	case "garbled":
		data[key] = []byte("garbled")
	case "truncated":
		data[key] = data[key][:len(data[key])/2]
	case "swapped":
		data[key] = slices.Clone(data[rapid.SampledFrom(keys()).Draw(t, "other key")])
	}
	w.shared.data = data
	w.shared.version++
}

// Over any sequence of times, damages and leaders, clients accept each replica's leaf at each step: an API server
// with the current caBundle, and one that still has the caBundle of the step before. Whatever happened, at the end
// both accept the leader's leaf.
func TestS17NoStepLosesARequest(t *testing.T) {
	ctx := klog.NewContext(t.Context(), klog.Logger{})
	fixedseed.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.settle(ctx, t)
		for _, r := range w.replicas {
			r.observe(w.now)
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "events") {
			if i%maxPrevious == 0 {
				w.replicas[1-w.leader].observe(w.now) // It may lag, but not behind more CAs than are kept.
			}
			switch rapid.SampledFrom([]string{"time", "time", "time", "observe", "damage", "overwrite", "leader"}).Draw(t, "event") {
			case "time":
				w.advance(t)
			case "observe":
				w.replicas[1-w.leader].observe(w.now)
				continue
			case "damage":
				w.damage(t)
			case "overwrite":
				was := w.accepted(w.caBundle)
				w.caBundle = []byte("garbled")
				w.settle(ctx, t)
				if now := w.accepted(w.caBundle); !slices.Equal(was, now) {
					t.Fatalf("accepted of the replicas: before the caBundle was overwritten %t, once repaired %t", was, now)
				}
			case "leader":
				w.leader = 1 - w.leader
			}
			w.settle(ctx, t)
			if !w.accepted(w.caBundle)[w.leader] {
				t.Fatal("settled, and what the leader serves is refused")
			}
			writes := w.shared.writes
			w.settle(ctx, t)
			if w.shared.writes != writes {
				t.Fatal("wrote although nothing has changed")
			}
		}
	})
}
