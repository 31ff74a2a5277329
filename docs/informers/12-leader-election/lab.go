// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package leaderelection lets two candidates hand over a Lease, in order and in disorder.
package leaderelection

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
)

// The times are about a fifth of the usual ones, which are 15, 10 and 2 seconds.
const (
	leaseDuration = 3 * time.Second
	renewDeadline = 1500 * time.Millisecond
	retryPeriod   = 250 * time.Millisecond
)

// harbour is the place where the candidates meet.
type harbour struct {
	lab    *lab.Lab
	events chan string
	// leading counts who works at this moment.
	leading atomic.Int64
	ever2   atomic.Bool
}

// Lab takes the lease from one candidate to the other and back.
func Lab(ctx context.Context, l *lab.Lab) error {
	h := &harbour{lab: l, events: make(chan string, 100)}
	l.Step("ida comes first, moby waits")
	ida, err := h.enter("ida")
	if err != nil {
		return err
	}
	ida.run(ctx)
	defer ida.stop()
	if err := h.see(ctx, "ida leads"); err != nil {
		return err
	}
	moby, err := h.enter("moby")
	if err != nil {
		return err
	}
	moby.run(ctx)
	defer moby.stop()
	if err := h.see(ctx, "moby sees ida lead"); err != nil {
		return err
	}

	l.Step("ida ends in order: she releases the lease, and moby need not wait for its end")
	start := time.Now()
	ida.stop()
	if err := h.see(ctx, "ida has stopped"); err != nil {
		return err
	}
	if err := h.see(ctx, "moby leads"); err != nil {
		return err
	}
	l.Say("nobody led for %s", l.Took(time.Since(start)))

	l.Step("moby loses the API server, and ida is back")
	again, err := h.enter("ida")
	if err != nil {
		return err
	}
	again.run(ctx)
	defer again.stop()
	if err := h.see(ctx, "ida sees moby lead"); err != nil {
		return err
	}
	start = time.Now()
	moby.cut.Store(true)
	if err := h.see(ctx, "moby has stopped"); err != nil {
		return err
	}
	l.Say("after %s: he could not renew", l.Took(time.Since(start)))
	if err := h.see(ctx, "ida leads"); err != nil {
		return err
	}
	l.Say("after %s: the lease has ended", l.Took(time.Since(start)))
	l.Say("two led at once: %t", h.ever2.Load())
	return h.sayLease(ctx)
}

// candidate is one replica of a controller.
type candidate struct {
	elector *leaderelection.LeaderElector
	cut     atomic.Bool
	stop    func()
}

// enter makes a candidate with a client of its own.
func (h *harbour) enter(name string) (*candidate, error) {
	c := &candidate{}
	config := rest.CopyConfig(h.lab.Config)
	config.Timeout = renewDeadline / 2 // A request that hangs must not take all the time that there is.
	config.Wrap(c.cable)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: h.lab.Namespace, Name: "captain"},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				if h.leading.Add(1) > 1 {
					h.ever2.Store(true)
				}
				h.events <- name + " leads"
			},
			OnStoppedLeading: func() {
				h.leading.Add(-1)
				h.events <- name + " has stopped"
			},
			OnNewLeader: func(leader string) {
				if leader != name {
					h.events <- name + " sees " + leader + " lead"
				}
			},
		},
	})
	return c, err
}

// run elects until stop, or until the lead is lost.
func (c *candidate) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var running wait.Group
	running.StartWithContext(ctx, c.elector.Run)
	c.stop = func() {
		cancel()
		running.Wait()
	}
}

// cable is the connection, which can be cut.
func (c *candidate) cable(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if c.cut.Load() {
			return nil, errors.New("the cable is cut")
		}
		return next.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// see waits for an event. What else is seen meanwhile is passed over: who sees whom lead is not in a fixed order.
func (h *harbour) see(ctx context.Context, want string) error {
	for {
		got, err := lab.Receive(ctx, want, h.events)
		if err != nil {
			return err
		}
		if got == want {
			h.lab.Say("%s", got)
			return nil
		}
	}
}

func (h *harbour) sayLease(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(h.lab.Config)
	if err != nil {
		return err
	}
	lease, err := client.CoordinationV1().Leases(h.lab.Namespace).Get(ctx, "captain", metav1.GetOptions{})
	if err != nil {
		return err
	}
	h.lab.Say("the lease: holder %s, duration %d s, transitions %d", *lease.Spec.HolderIdentity, *lease.Spec.LeaseDurationSeconds, *lease.Spec.LeaseTransitions)
	return nil
}
