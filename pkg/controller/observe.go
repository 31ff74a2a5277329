// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/health"
	"fairlead.dev/fairlead/pkg/workqueue"
)

// observation has the inputs of a sync from the caches. Its Snapshot does not change.
type observation struct {
	// Snapshot is the Application and its children, as the caches show them. Application is nil if it is gone.
	child.Snapshot
	// serverTime is the time by the clock of the API server, from which the times of objects are; see server_time.go.
	serverTime time.Time
	// health is the health of the rollout.
	health health.Rollout
	// fingerprint is the hash of the versions of all objects in the Snapshot.
	fingerprint fingerprint
	// unchanged means that everything is as the last sync left it; then nothing else was read. unchangedFor is the delay
	// of the next sync; 0 means none.
	unchanged    bool
	unchangedFor time.Duration
	// stale are the resources whose caches have not observed our own last writes.
	stale []schema.GroupVersionResource
}

// observe reads the caches, and nothing from the API server.
func (c *Controller) observe(_ context.Context, key cache.ObjectName, trigger workqueue.Trigger, now time.Time) (observation, error) {
	var observed observation
	var err error
	// Check this before reading the caches, so that the snapshot is at least as new as the result. In the other order, a
	// cache that catches up in between would vouch for an older snapshot.
	observed.stale = c.ConsistencyStore.Stale(key, c.Informers)
	if observed.fingerprint, err = c.fingerprint(key); err != nil {
		return observation{}, err
	}
	if trigger.ForceFullSync {
		c.memory.forgetFingerprint(key) // If this sync ends as Stale, its retry must be a full one, too.
	} else if len(observed.stale) == 0 {
		if observed.unchangedFor, observed.unchanged = c.memory.matches(key, observed.fingerprint, now); observed.unchanged {
			return observed, nil
		}
	}
	observed.Snapshot, err = c.snapshot(key)
	if err == nil && observed.Application != nil {
		observed.serverTime = c.memory.serverTime(observed.Snapshot, now)
		observed.SameSpecSince, err = c.memory.sameSpecSince(observed.Snapshot)
	}
	return observed, err
}

// snapshot takes a Snapshot of the Application and its children from the caches.
func (c *Controller) snapshot(key cache.ObjectName) (child.Snapshot, error) {
	application, found, err := c.Informers.Application(key)
	if err != nil {
		return child.Snapshot{}, fmt.Errorf("observe Application: %w", err)
	}
	if !found {
		return child.Snapshot{}, nil
	}
	unavailable := c.Informers.Unavailable()
	children, err := c.Informers.Children(key)
	if err != nil {
		return child.Snapshot{}, fmt.Errorf("observe children: %w", err)
	}
	// If a kind became available in between, the next sync reads it as a whole.
	maps.DeleteFunc(children, func(ref child.Ref, _ child.Object) bool { _, is := unavailable[ref.Kind]; return is })
	replicaSets, pods, err := c.Informers.Pods(key)
	if err != nil {
		return child.Snapshot{}, fmt.Errorf("observe pods: %w", err)
	}
	return child.Snapshot{Application: application, Children: children, Unavailable: unavailable, ReplicaSets: replicaSets, Pods: pods}, nil
}

// ownedChildren returns the live children that the Application owns.
func ownedChildren(snapshot child.Snapshot) map[child.Ref]child.Object {
	owned := map[child.Ref]child.Object{}
	for ref, object := range snapshot.Children {
		if child.OwnedBy(object, snapshot.Application) {
			owned[ref] = object
		}
	}
	return owned
}
