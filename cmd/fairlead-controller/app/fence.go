// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// errLeaseLost ends the process of a leader that may no longer write.
var errLeaseLost = errors.New("the lease is lost")

// fence is the lock of the leader election, and knows until when this replica may write.
//
// client-go's elector alone is too slow to stop. It cancels the leader's context only after it has retried until the
// renew deadline, and then tried to release the lease. It continues until then even if it has read that another
// replica holds the lease. And it releases a lease that it could not renew while its work still runs. A fence
// observes each request of the elector, and:
//
//   - ends the lease of this replica one renew deadline after it sent the last renewal that succeeded, whatever the
//     elector does then. The renew deadline is less than the lease duration, and a successor waits for the lease
//     duration from when it observes that renewal, which is later.
//   - measures this by the wall clock too: after a suspend, the timers and the elector, which use the monotonic clock,
//     believe that no time has passed. The first write after it fails.
//   - ends it at once when the Lease names another holder.
//   - refuses to release the Lease until the work has ended.
//   - reports whether a predecessor may still write (see predecessorMayWrite).
type fence struct {
	resourcelock.Interface
	renewDeadline time.Duration
	cancel        context.CancelCauseFunc
	// lease ends when this replica may no longer write.
	lease context.Context //nolint:containedctx // It is what a fence is: the lifetime of the lease.

	clock func() instant

	mu    sync.Mutex
	timer *time.Timer
	// until is when the lease ends unless it is renewed; zero while this replica does not hold it.
	until instant
	// seen is the Lease as last read; nil if there was none.
	seen     *resourcelock.LeaderElectionRecord
	doubtful bool
	working  bool
}

func newFence(ctx context.Context, lock resourcelock.Interface, renewDeadline time.Duration, now func() time.Time) *fence {
	f := &fence{Interface: lock, renewDeadline: renewDeadline, clock: newClock(now)}
	f.lease, f.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return f
}

// Get returns the Lease. The elector of a replica that does not hold the lease calls it, and that of a leader whose
// renewal was refused.
func (f *fence) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := f.Interface.Get(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.seen = nil
		return record, raw, err
	}
	f.seen = record
	if holder := record.HolderIdentity; f.held() && holder != "" && holder != f.Identity() {
		f.cancel(fmt.Errorf("%w: %s holds it", errLeaseLost, holder))
	}
	return record, raw, nil
}

// Create creates the Lease. The elector calls it if there is none.
func (f *fence) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	sent := f.clock()
	if err := f.Interface.Create(ctx, record); err != nil {
		return err
	}
	f.acquired(sent, true)
	return nil
}

// Update takes, renews or releases the lease.
func (f *fence) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if record.HolderIdentity == "" {
		if f.isWorking() {
			return errors.New("cannot release the lease while syncs run")
		}
		return f.Interface.Update(ctx, record)
	}
	sent := f.clock()
	if err := f.Interface.Update(ctx, record); err != nil {
		return err
	}
	f.acquired(sent, f.rewritten())
	return nil
}

// acquired records that the Lease named this replica at a moment after sent.
func (f *fence) acquired(sent instant, doubtful bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lease.Err() != nil {
		return // A lost lease stays lost: the process ends and restarts.
	}
	if f.held() && f.until.reached(sent) {
		f.expired() // The machine was suspended; another replica may have led meanwhile.
		return
	}
	if !f.held() {
		f.doubtful = doubtful
	}
	f.until = sent.add(f.renewDeadline)
	if f.timer != nil {
		f.timer.Stop()
	}
	f.timer = time.AfterFunc(f.until.monotonic-f.clock().monotonic, f.expire)
}

func (f *fence) expire() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.until.reached(f.clock()) {
		return // Renewed while the timer fired.
	}
	f.expired()
}

// expired ends a lease that was not renewed in time. The caller holds the lock.
func (f *fence) expired() {
	f.cancel(fmt.Errorf("%w: no renewal for %s", errLeaseLost, f.renewDeadline))
}

// rewritten reports whether the acquired Lease was neither released nor left to expire.
func (f *fence) rewritten() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.seen == nil:
		return true
	case f.seen.HolderIdentity == "":
		// A leader that releases its lease leaves one second; a new Lease of an installation has none.
		return f.seen.LeaseDurationSeconds > 1
	default:
		// The elector has waited for the end of another holder's Lease. If the Lease names this replica
		// before it held it, another writer put the name there.
		return f.seen.HolderIdentity == f.Identity()
	}
}

// predecessorMayWrite reports whether this replica took the lease without proof that the previous leader has stopped:
// there was no Lease, because it is new or was deleted, or a user had edited it. The previous leader finds out when it
// renews, or stops at its deadline; so after one lease duration it has stopped.
func (f *fence) predecessorMayWrite() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.doubtful
}

// work records whether syncs run.
func (f *fence) work(working bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.working = working
}

func (f *fence) isWorking() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.working
}

// stop ends the lease and its timer.
func (f *fence) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil {
		f.timer.Stop()
	}
	f.cancel(context.Canceled)
}

// held reports whether this replica has acquired the lease. The caller holds the lock.
func (f *fence) held() bool { return !f.until.isZero() }

// mayWrite returns nil while this replica holds the lease. It reads the clocks, since after a suspended process or
// machine resumes, a sync may continue before the timer fires.
func (f *fence) mayWrite() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.lease.Err() != nil:
	case !f.held():
		return fmt.Errorf("%w: this replica never held it", errLeaseLost)
	case f.until.reached(f.clock()):
		f.expired()
	}
	return context.Cause(f.lease)
}

// guardWrites passes requests that change something only while this replica holds the lease.
func (f *fence) guardWrites(next http.RoundTripper) http.RoundTripper {
	return guardedTransport{fence: f, next: next}
}

type guardedTransport struct {
	fence *fence
	next  http.RoundTripper
}

func (t guardedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		if err := t.fence.mayWrite(); err != nil {
			if request.Body != nil {
				_ = request.Body.Close() // A RoundTripper must.
			}
			return nil, err
		}
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the transport, to close its idle connections.
func (t guardedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
