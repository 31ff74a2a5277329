// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease is a Lease that candidates share, as the API server stores it.
type lease struct {
	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord
	version int
}

func (l *lease) edit(change func(*resourcelock.LeaderElectionRecord)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	change(l.record)
}

func (l *lease) remove() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version++
	l.record = nil
}

func (l *lease) holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.record == nil {
		return ""
	}
	return l.record.HolderIdentity
}

// lock is the lease as one candidate sees it over its connection.
type lock struct {
	*lease
	identity string
	seen     int
	mu       sync.Mutex
	cut      bool
}

// disconnect makes requests hang until their context ends, and reconnect ends that.
func (l *lock) disconnect(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
}

func (l *lock) reach(ctx context.Context) error {
	l.mu.Lock()
	cut := l.cut
	l.mu.Unlock()
	if cut {
		<-ctx.Done()
	}
	return ctx.Err()
}

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.reach(ctx); err != nil {
		return nil, nil, err
	}
	l.lease.mu.Lock()
	defer l.lease.mu.Unlock()
	if l.record == nil {
		return nil, nil, apierrors.NewNotFound(leases, "lease")
	}
	l.seen = l.version
	record := *l.record
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.reach(ctx); err != nil {
		return err
	}
	l.lease.mu.Lock()
	defer l.lease.mu.Unlock()
	if l.record != nil {
		return apierrors.NewAlreadyExists(leases, "lease")
	}
	return l.store(record)
}

func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.reach(ctx); err != nil {
		return err
	}
	l.lease.mu.Lock()
	defer l.lease.mu.Unlock()
	if l.record == nil {
		return apierrors.NewNotFound(leases, "lease")
	}
	if l.seen != l.version {
		return apierrors.NewConflict(leases, "lease", errors.New("changed in between"))
	}
	return l.store(record)
}

func (l *lock) store(record resourcelock.LeaderElectionRecord) error {
	l.version++
	l.seen = l.version
	l.record = &record
	return nil
}

func (l *lock) RecordEvent(string) {}
func (l *lock) Identity() string   { return l.identity }
func (l *lock) Describe() string   { return "lease of the test" }

// contender is a running candidate, and records when it could write.
type contender struct {
	*candidate
	lock *lock
	stop context.CancelFunc

	mu sync.Mutex
	// began and ended are when it could first and last write; zero means not yet.
	began, ended time.Time
	err          error
	done         chan struct{}
}

// note sets began or ended to now.
func (c *contender) note(moment *time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*moment = time.Now()
}

// contend starts a candidate whose work takes drain to stop.
func (l *lease) contend(t *testing.T, identity string, drain time.Duration) *contender {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	c := &contender{lock: &lock{lease: l, identity: identity}, stop: stop, done: make(chan struct{})}
	c.candidate = newCandidate(ctx, LeaderElection{
		Identity: identity, LeaseName: "lease", LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: time.Second,
	}, c.lock, nil)
	go func() {
		defer close(c.done)
		c.err = c.run(ctx, c.waitForPredecessor(func(ctx, lease context.Context) {
			c.note(&c.began)
			select {
			case <-ctx.Done():
				select {
				case <-time.After(drain):
				case <-lease.Done():
				}
			case <-lease.Done():
			}
			c.note(&c.ended)
		}))
	}()
	return c
}

func (c *contender) working() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.began.IsZero() && c.ended.IsZero()
}

// after lets time pass, until every goroutine has done what was due by then.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// released returns the Lease of a new installation, which no replica holds.
func released() *lease { return &lease{record: &resourcelock.LeaderElectionRecord{}} }

func TestLeaderStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := released()
		one := l.contend(t, "one", 3*time.Second)
		after(time.Second)
		two := l.contend(t, "two", 0)
		after(time.Minute)
		if !one.working() || two.working() {
			t.Fatalf("one works: %t, two works: %t", one.working(), two.working())
		}
		one.stop()
		after(2 * time.Second)
		if l.holder() != "one" || two.working() {
			t.Error("the lease was given away while syncs ran")
		}
		<-one.done
		if one.err != nil {
			t.Errorf("a stop is no error, but it returned %v", one.err)
		}
		// An elector retries after the retry period plus a random delay of up to 1.2 times as long.
		after(2300 * time.Millisecond)
		if !two.working() {
			t.Errorf("nobody took over; the holder is %q", l.holder())
		}
		if two.began.Before(one.ended) {
			t.Errorf("two began at %s, one ended at %s", two.began, one.ended)
		}
		two.stop()
		<-two.done
	})
}

// A leader without a connection stops before the next one starts.
func TestLeaderCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := released()
		one := l.contend(t, "one", time.Hour)
		after(time.Second)
		two := l.contend(t, "two", 0)
		after(30 * time.Second)
		one.lock.disconnect(true)
		cut := time.Now()
		<-one.done
		if !errors.Is(one.err, errLeaseLost) {
			t.Errorf("it ended with %v", one.err)
		}
		if worked := one.ended.Sub(cut); worked > 10*time.Second {
			t.Errorf("it worked on for %s", worked)
		}
		if err := one.fence.mayWrite(); !errors.Is(err, errLeaseLost) {
			t.Errorf("it may write: %v", err)
		}
		after(20 * time.Second)
		if margin := two.began.Sub(one.ended); two.began.IsZero() || margin < 4*time.Second {
			t.Errorf("two began %s after one had ended", margin)
		}
		two.stop()
		<-two.done
	})
}

// Whatever happens to the Lease, two replicas never work at once.
func TestLeaseChangedByOthers(t *testing.T) {
	for name, change := range map[string]func(*lease){
		"deleted": (*lease).remove,
		"given to the other": func(l *lease) {
			l.edit(func(r *resourcelock.LeaderElectionRecord) { r.HolderIdentity = "two" })
		},
		"given to a stranger": func(l *lease) {
			l.edit(func(r *resourcelock.LeaderElectionRecord) { r.HolderIdentity = "thief" })
		},
		"cleared": func(l *lease) { l.edit(func(r *resourcelock.LeaderElectionRecord) { r.HolderIdentity = "" }) },
	} {
		for offset := range 4 { // The two look at the Lease at different times.
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := released()
					one := l.contend(t, "one", 0)
					after(time.Second)
					two := l.contend(t, "two", 0)
					after(30*time.Second + time.Duration(offset)*300*time.Millisecond)
					change(l)
					for range 600 {
						after(100 * time.Millisecond)
						if one.working() && two.working() {
							t.Fatalf("both work; the holder is %q", l.holder())
						}
					}
					if !one.working() && !errors.Is(one.err, errLeaseLost) {
						t.Errorf("one ended with %v", one.err)
					}
					if !one.working() && !two.working() {
						t.Errorf("nobody works; the holder is %q", l.holder())
					}
					one.stop()
					two.stop()
					<-one.done
					<-two.done
				})
			})
		}
	}
}

// A replica that finds no Lease waits, because a user may have deleted it under a leader.
func TestNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := (&lease{}).contend(t, "one", 0)
		after(14 * time.Second)
		if one.working() {
			t.Error("it works before a leader can have noticed")
		}
		after(2 * time.Second)
		if !one.working() {
			t.Error("it does not work")
		}
		one.stop()
		<-one.done
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The clock decides, not the timer: a process that was stopped until its lease ended writes nothing when it
// continues.
func TestGuardWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lock{lease: released(), identity: "one"}
		f := newFence(t.Context(), l, 10*time.Second, nil)
		defer f.stop()
		sent := 0
		guarded := f.guardWrites(transport(func(*http.Request) (*http.Response, error) {
			sent++
			return &http.Response{Body: http.NoBody}, nil
		}))
		try := func(method string) error {
			request, err := http.NewRequestWithContext(t.Context(), method, "https://example.com", strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			response, err := guarded.RoundTrip(request)
			if err == nil {
				return response.Body.Close()
			}
			return err
		}
		if err := try(http.MethodPost); !errors.Is(err, errLeaseLost) || sent != 0 {
			t.Errorf("a write before the election: %v, %d sent", err, sent)
		}
		if err := try(http.MethodGet); err != nil || sent != 1 {
			t.Errorf("a read before the election: %v, %d sent", err, sent)
		}
		if _, _, err := f.Get(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := f.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "one", LeaseDurationSeconds: 15}); err != nil {
			t.Fatal(err)
		}
		if err := try(http.MethodPatch); err != nil || sent != 2 {
			t.Errorf("a write of the leader: %v, %d sent", err, sent)
		}
		f.mu.Lock()
		f.timer.Stop() // It may as well fire too late.
		f.mu.Unlock()
		after(10 * time.Second)
		if err := try(http.MethodDelete); !errors.Is(err, errLeaseLost) || sent != 2 {
			t.Errorf("a write after the lease: %v, %d sent", err, sent)
		}
	})
}
