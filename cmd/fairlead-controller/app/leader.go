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

// leaseExpiredGrace is how long after the end of its lease a leader may run before /livez fails. The fence has stopped
// its writes long before.
const leaseExpiredGrace = 20 * time.Second

// LeaderElection configures the leader election.
type LeaderElection struct {
	Namespace     string
	LeaseName     string
	Identity      string
	LeaseDuration time.Duration
	RenewDeadline time.Duration
	RetryPeriod   time.Duration
}

// newIdentity returns a name for this process: its host, which is the pod, and a random suffix, because a pod may
// restart the process.
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

// newCandidate returns a candidate whose fence reads the clock with now; nil is time.Now.
func newCandidate(ctx context.Context, config LeaderElection, lock resourcelock.Interface, now func() time.Time) *candidate {
	return &candidate{
		LeaderElection: config,
		fence:          newFence(ctx, lock, config.RenewDeadline, now),
		health:         leaderelection.NewLeaderHealthzAdaptor(leaseExpiredGrace),
	}
}

// run waits for the lease, calls work while this replica holds the lease, and renews it until work has returned. Then
// it releases the lease, so that a successor need not wait. The work itself waits for a predecessor; see
// waitForPredecessor.
//
// A lost lease is an error that ends the process: its state is no longer reliable, and a restart costs as much as a
// takeover.
func (c *candidate) run(ctx context.Context, work func(ctx, lease context.Context)) error {
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
				klog.FromContext(ctx).Info("New leader", "holder", identity, "self", identity == c.Identity)
			},
		},
	})
	if err != nil {
		return fmt.Errorf("create leader elector: %w", err)
	}
	c.health.SetLeaderElection(elector)

	// The workers drain under the lease, so ctx does not end it.
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

// waitForPredecessor delays work until a previous leader whose Lease was deleted or edited has stopped, which takes at
// most the lease duration.
func (c *candidate) waitForPredecessor(work func(ctx, lease context.Context)) func(ctx, lease context.Context) {
	return func(ctx, lease context.Context) {
		if c.fence.predecessorMayWrite() {
			klog.FromContext(ctx).Info("Lease missing or edited; waiting for its duration until a previous leader must have stopped", "duration", c.LeaseDuration)
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

// lost returns why this replica lost the lease, or nil.
func (c *candidate) lost() error {
	if err := context.Cause(c.fence.lease); errors.Is(err, errLeaseLost) {
		return err
	}
	return nil
}
