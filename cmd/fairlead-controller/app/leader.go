// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// leaseExpiredGrace is how long beyond its end a lease may be held before /livez says so. The fence
// has ended the work long before.
const leaseExpiredGrace = 20 * time.Second

// LeaderElection is which Lease to hold, and how.
type LeaderElection struct {
	Namespace     string
	LeaseName     string
	Identity      string
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
}

// newIdentity names this process: the host, which is the pod, and something that no process before
// it on the same host had.
func newIdentity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("read hostname: %w", err)
	}
	return host + "_" + string(uuid.NewUUID()), nil
}

// candidate takes part in the leader election.
type candidate struct {
	LeaderElection
	fence  *fence
	health *leaderelection.HealthzAdaptor
}

func newCandidate(ctx context.Context, config LeaderElection, lock resourcelock.Interface) *candidate {
	return &candidate{
		LeaderElection: config,
		fence:          newFence(ctx, lock, config.RenewDeadline),
		health:         leaderelection.NewLeaderHealthzAdaptor(leaseExpiredGrace),
	}
}

// lead is a controller.Elect, for work that waits for a predecessor by itself (see afterPredecessor).
// It waits for the lease, calls work while it is held, and keeps it until work has returned; then it
// releases it, so that a successor need not wait.
//
// A lost lease is an error, for the process to end with: what it knows is no longer to be trusted,
// and a restart costs what a takeover costs.
func (c *candidate) lead(ctx context.Context, work func(ctx, lease context.Context)) error {
	elected := make(chan struct{})
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            c.fence,
		Name:            c.LeaseName,
		LeaseDuration:   c.LeaseDuration,
		RenewDeadline:   c.RenewDeadline,
		RetryPeriod:     c.RetryPeriod,
		ReleaseOnCancel: true,
		WatchDog:        c.health,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(elected) },
			OnStoppedLeading: func() {},
			OnNewLeader: func(identity string) {
				klog.FromContext(ctx).Info("The lease is held", "holder", identity, "mine", identity == c.Identity)
			},
		},
	})
	if err != nil {
		return fmt.Errorf("make leader elector: %w", err)
	}
	c.health.SetLeaderElection(elector)

	// The lease is kept while the workers drain, so ctx does not end it.
	electing, resign := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		elector.Run(electing)
	}()
	defer func() {
		resign()
		<-done
		c.fence.stop()
	}()

	select {
	case <-ctx.Done():
		return nil
	case <-elected:
	}
	c.fence.work(true)
	work(ctx, c.fence.lease)
	c.fence.work(false)
	return c.lost()
}

// afterPredecessor makes work begin when a leader whose Lease was deleted or rewritten has noticed,
// which takes it no longer than a lease lasts.
func (c *candidate) afterPredecessor(work func(ctx, lease context.Context)) func(ctx, lease context.Context) {
	return func(ctx, lease context.Context) {
		if c.fence.doubt() {
			klog.FromContext(ctx).Info("There was no lease, or it had been changed by hand; waiting until whoever may have led before has noticed", "wait", c.LeaseDuration)
			timer := time.NewTimer(c.LeaseDuration)
			defer timer.Stop()
			select {
			case <-ctx.Done():
				return
			case <-lease.Done():
				return
			case <-timer.C:
			}
		}
		work(ctx, lease)
	}
}

// lost returns why the lease ended, or nil while it is held.
func (c *candidate) lost() error {
	if err := context.Cause(c.fence.lease); errors.Is(err, errLeaseLost) {
		return err
	}
	return nil
}
