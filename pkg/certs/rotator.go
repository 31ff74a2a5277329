// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

// Config configures a [Rotator].
type Config struct {
	// Store keeps the certificates. A [SecretStore] must be running for the Rotator to notice damage at once.
	Store Store
	// Names are the names for which the leaf must be valid.
	Names Names
	// Policy is [DefaultPolicy], except in tests.
	Policy Policy
	// Configurations are the webhook configurations whose caBundles the Rotator maintains, in all their webhooks.
	// They may be missing, now or always.
	Configurations []Configuration
}

// Rotator creates, rotates and repairs the certificates in a [Store], and makes clients trust them. Only the leader
// runs it. Two at once do no harm, because the API server refuses the write of the slower one.
type Rotator struct {
	config Config
	wake   chan struct{}
	// trusted is the caBundle that every configuration has, and trustedSince the time since which it has it. Only Run
	// uses them.
	trusted      []byte
	trustedSince time.Time
}

// NewRotator checks the policy and listens to the store. The Rotator does nothing before Run.
func NewRotator(config Config) (*Rotator, error) {
	if err := config.Policy.validate(); err != nil {
		return nil, err
	}
	r := &Rotator{config: config, wake: make(chan struct{}, 1)}
	config.Store.AddListener(r)
	return r, nil
}

// Enqueue triggers a sync. The Store calls it.
func (r *Rotator) Enqueue() {
	select {
	case r.wake <- struct{}{}:
	default: // One sync covers all triggers before it.
	}
}

const (
	// recheck bounds the wait for the next decision, which is months away. Timers do not notice a clock that was set,
	// or a machine that was suspended.
	recheck = time.Hour
	// maxSteps bounds one sync. The longest repair writes three times.
	maxSteps = 10
)

// Run maintains the certificates until ctx ends. Call it while this replica leads. You may call it again.
func (r *Rotator) Run(ctx context.Context) {
	var watches sync.WaitGroup
	defer watches.Wait()
	for _, c := range r.config.Configurations {
		watches.Go(func() { c.watch(ctx, r.Enqueue) })
	}
	r.trusted, r.trustedSince = nil, time.Time{}
	// If another writer keeps reverting the caBundle, the Rotator repairs it once a second.
	limiter := flowcontrol.NewTokenBucketRateLimiter(1, 10)
	backoff := newBackoff()
	for limiter.Wait(ctx) == nil {
		delay, err := r.sync(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			delay = backoff.Step()
			klog.FromContext(ctx).Error(err, "Certificate rotation failed", "retryAfter", delay)
		} else {
			backoff = newBackoff()
		}
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func newBackoff() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 7, Cap: time.Minute}
}
