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

// Config is what a [Rotator] is made of.
type Config struct {
	// Store has the certificates. A [SecretStore] must be running for the Rotator to notice damage at once.
	Store Store
	// Names are what the leaf has to be valid for.
	Names Names
	// Policy is [DefaultPolicy], but in tests.
	Policy Policy
	// Configurations are the webhook configurations whose caBundle is kept, in all their webhooks. They
	// may be missing, now or ever.
	Configurations []Configuration
}

// Rotator creates, rotates and repairs the certificates in a [Store], and makes clients trust them. Only the
// leader runs it; two at once do no harm, since the API server refuses the write of the slower one.
type Rotator struct {
	config Config
	wake   chan struct{}
	// trusted is the caBundle that every configuration has, and since when; only Run uses it.
	trusted      []byte
	trustedSince time.Time
}

// NewRotator checks the policy and listens to the store. Nothing happens before Run.
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
	// recheck bounds the wait for the next decision, which is months away, since timers do not see a
	// clock that was set, or that a suspended machine has slept through.
	recheck = time.Hour
	// maxSteps bounds one sync. The longest repair writes three times.
	maxSteps = 10
)

// Run maintains the certificates until ctx ends. Call it while leading; it may be called again.
func (r *Rotator) Run(ctx context.Context) {
	var watches sync.WaitGroup
	defer watches.Wait()
	for _, c := range r.config.Configurations {
		watches.Go(func() { c.watch(ctx, r.Enqueue) })
	}
	r.trusted, r.trustedSince = nil, time.Time{}
	// If another writer keeps reverting the caBundle, repair it once a second.
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
