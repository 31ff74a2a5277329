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

// errLeaseLost is why the process of a leader ends that must not write any more.
var errLeaseLost = errors.New("the lease is lost")

// fence is the lock of the leader election, and knows by itself until when this replica may write.
//
// client-go's elector alone is too slow to stop. It cancels the leader's context only after it has
// tried for the renew deadline and then tried to release the lease; it goes on until then even if
// it has read that the lease is another's; and it releases a lease that it could not renew while
// its work still runs. A fence sees each request of the elector, and:
//
//   - ends the lease of this replica one renew deadline after it had sent the last renewal that
//     succeeded, whatever the elector is doing then. The renew deadline is less than the lease
//     duration, for which a successor waits from when it sees that renewal, which is later.
//   - measures that by the wall clock too, because after a suspend the timers and the elector, which both go by the monotonic
//     clock, believe that no time has passed. The first write after it finds the lease ended.
//   - ends it at once when the Lease names another holder.
//   - refuses to release the Lease until the work has ended.
//   - tells whether a predecessor may still write (see doubt).
type fence struct {
	resourcelock.Interface
	renewDeadline time.Duration
	lose          context.CancelCauseFunc
	// lease ends when this replica must not write any more.
	lease context.Context //nolint:containedctx // It is what a fence is: the lifetime of the lease.

	clock func() instant

	mu    sync.Mutex
	timer *time.Timer
	// until is when the lease ends unless it is renewed; zero while it is not held.
	until instant
	// seen is what the Lease said when it was last read; nil if there was none.
	seen     *resourcelock.LeaderElectionRecord
	doubtful bool
	working  bool
}

func newFence(ctx context.Context, lock resourcelock.Interface, renewDeadline time.Duration) *fence {
	f := &fence{Interface: lock, renewDeadline: renewDeadline, clock: newClock()}
	f.lease, f.lose = context.WithCancelCause(context.WithoutCancel(ctx))
	return f
}

// Get is called by the elector of a replica that does not hold the lease, and by that of a leader
// whose renewal was refused.
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
		f.lose(fmt.Errorf("%w: %s has it", errLeaseLost, holder))
	}
	return record, raw, nil
}

// Create is called where there is no Lease.
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
			return errors.New("the lease is not released while syncs run")
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

// acquired notes that the Lease named us at a moment after sent.
func (f *fence) acquired(sent instant, doubtful bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lease.Err() != nil {
		return // Lost is lost: the process ends, and starts anew.
	}
	if f.held() && f.until.reached(sent) {
		f.expired() // The machine was suspended: another replica may have led, and gone, meanwhile.
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

// expired ends the lease that was not renewed in time, and is called with the lock.
func (f *fence) expired() {
	f.lose(fmt.Errorf("%w: it could not be renewed for %s", errLeaseLost, f.renewDeadline))
}

// rewritten tells whether the Lease that is being taken was neither released nor left to expire.
func (f *fence) rewritten() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.seen == nil:
		return true
	case f.seen.HolderIdentity == "":
		// A leader that releases its lease leaves one second; a new Lease of an installation has nothing.
		return f.seen.LeaseDurationSeconds > 1
	default:
		// Of another holder's Lease the elector has waited for the end. Our own name before we held it
		// was written by somebody else.
		return f.seen.HolderIdentity == f.Identity()
	}
}

// doubt tells whether the lease was taken without proof that the leader before has stopped: there
// was no Lease, because nobody ever led or because it was deleted, or a person had changed it. The
// leader before finds out when it renews, or stops by itself at its deadline; so after one lease
// duration there is no doubt.
func (f *fence) doubt() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.doubtful
}

// work says that syncs run from now on, or do not any more.
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

// stop ends the lease for good, and the timer.
func (f *fence) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer != nil {
		f.timer.Stop()
	}
	f.lose(context.Canceled)
}

// held is called with the lock.
func (f *fence) held() bool { return !f.until.isZero() }

// mayWrite returns nil while this replica holds the lease. It looks at the clocks, since the timer of
// a process or machine that was stopped and goes on may fire later than a sync continues.
func (f *fence) mayWrite() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.lease.Err() != nil:
	case !f.held():
		return fmt.Errorf("%w: it was never held", errLeaseLost)
	case f.until.reached(f.clock()):
		f.expired()
	}
	return context.Cause(f.lease)
}

// guardWrites lets requests that change something pass only while the lease is held.
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
				_ = request.Body.Close() // As a RoundTripper has to.
			}
			return nil, err
		}
	}
	return t.next.RoundTrip(request)
}

// WrappedRoundTripper lets client-go find the transport, to close its idle connections.
func (t guardedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
