// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// Rotator makes, rotates and repairs the certificates in a [Store], and has them trusted. Only the
// leader runs it; two at once do no harm, since every write is refused if another one came before.
type Rotator struct {
	Config
	wake chan struct{}
	// trusted is the caBundle that every configuration has, and since when; only Run uses it.
	trusted      []byte
	trustedSince time.Time
}

// NewRotator checks the policy and listens to the store. Nothing happens before Run.
func NewRotator(config Config) (*Rotator, error) {
	if err := config.Policy.validate(); err != nil {
		return nil, err
	}
	r := &Rotator{Config: config, wake: make(chan struct{}, 1)}
	config.Store.AddListener(r)
	return r, nil
}

// Enqueue asks for another look. The Store calls it.
func (r *Rotator) Enqueue() {
	select {
	case r.wake <- struct{}{}:
	default: // One look is for all that came before it.
	}
}

const (
	// recheck bounds the wait for the next decision, which is months away, since timers do not see a
	// clock that was set, or that a suspended machine has slept through.
	recheck = time.Hour
	// maxSteps bounds one sync. A first start takes one step, a rotation two.
	maxSteps = 10
)

// Run keeps the certificates until ctx ends. Call it while leading; it may be called again.
func (r *Rotator) Run(ctx context.Context) {
	var watches sync.WaitGroup
	defer watches.Wait()
	for _, c := range r.Configurations {
		watches.Go(func() { c.watch(ctx, r.Enqueue) })
	}
	r.trusted, r.trustedSince = nil, time.Time{}
	// Somebody who keeps changing the caBundle back is answered once a second.
	limiter := flowcontrol.NewTokenBucketRateLimiter(1, 10)
	backoff := failing()
	for limiter.Wait(ctx) == nil {
		delay, err := r.sync(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			delay = backoff.Step()
			klog.FromContext(ctx).Error(err, "The serving certificates could not be kept", "retryAfter", delay)
		} else {
			backoff = failing()
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

func failing() wait.Backoff {
	return wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.2, Steps: 7, Cap: time.Minute}
}

// sync decides and performs until there is nothing to do, and returns when to look again.
func (r *Rotator) sync(ctx context.Context) (time.Duration, error) {
	for range maxSteps {
		again, delay, err := r.step(ctx)
		if err != nil && !errors.Is(err, errConflict) {
			return 0, err
		}
		if err == nil && !again {
			return delay, nil
		}
	}
	return 0, fmt.Errorf("not settled after %d steps", maxSteps)
}

// step has what is there trusted, and then does one thing. The order matters: a new CA is promoted
// only after it was injected.
func (r *Rotator) step(ctx context.Context) (again bool, delay time.Duration, err error) {
	logger := klog.FromContext(ctx)
	loaded, err := r.Store.load(ctx)
	if err != nil {
		return false, 0, err
	}
	now := time.Now()
	bundle, damage := decode(loaded.data)
	if damage != nil {
		bundle = restore(bundle, r.Store.last(), now)
	}
	injectErr := r.inject(ctx, bundle)
	in := Input{Bundle: bundle, Names: r.Names, Policy: r.Policy, Now: now, TrustedSince: r.trustedSince}
	decision := Decide(in)
	if bundle, err = perform(in, decision.Action); err != nil {
		return false, 0, fmt.Errorf("%s: %w", decision.Action, err)
	}
	data, err := encode(bundle)
	if err != nil {
		return false, 0, err
	}
	if !equal(data, loaded.data) {
		if err := r.Store.save(ctx, loaded, data); err != nil {
			return true, 0, err
		}
		logger.Info("Stored serving certificates", "store", r.Store.Name(), "action", decision.Action, "reason", decision.Reason,
			"damage", damage, "leafNotAfter", bundle.Leaf.Certificate.NotAfter, "cas", len(bundle.CAs()))
		return true, 0, nil
	}
	delay = recheck
	if !decision.At.IsZero() {
		delay = min(delay, max(decision.At.Sub(now), 0))
	}
	return false, delay, injectErr
}

// inject gives all configurations the CAs of the bundle, and remembers since when they have them.
func (r *Rotator) inject(ctx context.Context, bundle Bundle) error {
	if len(bundle.CAs()) == 0 {
		r.trusted, r.trustedSince = nil, time.Time{}
		return nil // An empty caBundle would mean the CAs of the system.
	}
	encoded, err := encode(bundle)
	if err != nil {
		return err
	}
	caBundle := encoded[KeyCABundle]
	changed := !bytes.Equal(caBundle, r.trusted)
	var errs []error
	for _, c := range r.Configurations {
		patched, err := c.inject(ctx, caBundle)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if patched {
			changed = true
			klog.FromContext(ctx).Info("Injected the caBundle", "kind", c.kind, "name", c.name)
		}
	}
	switch err := errors.Join(errs...); {
	case err != nil:
		r.trusted, r.trustedSince = nil, time.Time{}
		return err
	case changed:
		r.trusted, r.trustedSince = caBundle, time.Now()
	}
	return nil
}
