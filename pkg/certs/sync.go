// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"
)

// sync decides and performs actions until none is left, and returns the delay until the next sync.
func (r *Rotator) sync(ctx context.Context) (time.Duration, error) {
	for range maxSteps {
		done, delay, err := r.step(ctx, time.Now())
		if errors.Is(err, errConflict) {
			continue // Another rotator was faster; its write may have done everything.
		}
		if done || err != nil {
			return delay, err
		}
	}
	return 0, fmt.Errorf("not finished after %d steps", maxSteps)
}

// step loads the bundle, injects its CAs, decides, and performs one action. It is done if there was nothing to do;
// then delay is the time until the next sync.
//
// The order matters: an earlier step has stored every CA that signs, and this one gives it to the API server before
// it may sign.
func (r *Rotator) step(ctx context.Context, now time.Time) (done bool, delay time.Duration, err error) {
	store := r.config.Store
	loaded, err := store.load(ctx)
	if err != nil {
		return false, 0, err
	}
	bundle, damage := decode(loaded.data)
	if damage != nil {
		bundle = restore(bundle, store.last(), now)
	}
	// If this fails, the rotation must continue: Decide knows which actions must wait.
	injectErr := r.inject(ctx, bundle, now)

	in := Input{Bundle: bundle, Names: r.config.Names, Policy: r.config.Policy, Now: now, TrustedSince: r.trustedSince}
	decision := Decide(in)
	if bundle, err = perform(in, decision.Action); err != nil {
		return false, 0, fmt.Errorf("%s: %w", decision.Action, err)
	}
	encoded, err := encode(bundle)
	if err != nil {
		return false, 0, err
	}
	if !equal(encoded, loaded.data) {
		if err := store.save(ctx, loaded, encoded); err != nil {
			return false, 0, err
		}
		logStored(ctx, store, loaded, bundle, decision, damage)
	}
	// This replica does not wait for its watch. restore uses the bundle that it serves.
	if err := store.serve(bundle, now); err != nil {
		return false, 0, fmt.Errorf("serve %s: %w", store.Name(), err)
	}
	delay = recheck
	if !decision.At.IsZero() {
		delay = min(delay, decision.At.Sub(now))
	}
	return decision.Action == Wait, delay, injectErr
}

func logStored(ctx context.Context, store Store, loaded stored, bundle Bundle, decision Decision, damage error) {
	logger := klog.FromContext(ctx).WithValues("store", store.Name(), "action", decision.Action, "reason", decision.Reason,
		"leafNotAfter", bundle.Leaf.Certificate.NotAfter, "caCount", len(bundle.CAs()))
	if damage != nil && len(loaded.data) > 0 {
		logger.Info("Repaired the serving certificates", "damage", damage.Error())
		return
	}
	logger.Info("Stored the serving certificates")
}

// inject writes the CAs of the bundle into all configurations, and records since when they have them.
func (r *Rotator) inject(ctx context.Context, bundle Bundle, now time.Time) error {
	if len(bundle.CAs()) == 0 {
		r.trusted, r.trustedSince = nil, time.Time{}
		return nil // With an empty caBundle, the API server would trust the CAs of its system.
	}
	encoded, err := encode(bundle)
	if err != nil {
		return err
	}
	caBundle := encoded[KeyCABundle]
	changed := !bytes.Equal(caBundle, r.trusted)
	var errs []error
	for _, c := range r.config.Configurations {
		patched, err := c.inject(ctx, caBundle)
		switch {
		case err != nil:
			errs = append(errs, err)
		case patched:
			changed = true
			klog.FromContext(ctx).Info("Injected the caBundle", "kind", c.kind, "name", c.name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		r.trusted, r.trustedSince = nil, time.Time{}
		return err
	}
	if clockSetBack := now.Before(r.trustedSince); changed || clockSetBack {
		r.trusted, r.trustedSince = caBundle, now
	}
	return nil
}
