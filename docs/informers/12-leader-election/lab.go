// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package leaderelection lets two candidates hand over a Lease, in order and in disorder.
package leaderelection

import (
	"context"
	"errors"
	"net/http"
	"slices"
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

// The times are a fifth of the usual ones, which are 15, 10 and 2 seconds.
const (
	leaseDuration = 3 * time.Second
	renewDeadline = 2 * time.Second
	retryPeriod   = 400 * time.Millisecond
)

// harbour is the place where the candidates meet.
type harbour struct {
	lab    *lab.Lab
	events chan string
	// seen are the events that the lab has not waited for yet.
	seen []string
}

// Lab takes the lease from one candidate to the other and back.
func Lab(ctx context.Context, l *lab.Lab) error {
	h := &harbour{lab: l, events: make(chan string, 100)}
	l.Step("ida starts first, moby waits")
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

	l.Step("ida ends in order and releases the lease, so moby need not wait for its end")
	start := time.Now()
	ida.stop()
	if err := h.see(ctx, "ida has stopped"); err != nil {
		return err
	}
	if err := h.see(ctx, "moby leads"); err != nil {
		return err
	}
	l.Say("no leader for %s", l.Took(time.Since(start)))

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
	// Ida looks on and counts the time, but cannot write until moby has stopped: on a machine that stalls for longer
	// than the gap, the lab would end in any order.
	again.readOnly.Store(true)
	start = time.Now()
	moby.cut.Store(true)
	if err := h.see(ctx, "moby has stopped"); err != nil {
		return err
	}
	l.Say("after %s: moby could not renew", l.Took(time.Since(start)))
	again.readOnly.Store(false)
	if err := h.see(ctx, "ida leads"); err != nil {
		return err
	}
	l.Say("after %s: the lease has ended", l.Took(time.Since(start)))
	return h.sayLease(ctx)
}

// candidate is one replica of a controller.
type candidate struct {
	elector       *leaderelection.LeaderElector
	cut, readOnly atomic.Bool
	stop          func()
}

// enter makes a candidate with a separate client.
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
			OnStartedLeading: func(context.Context) { h.events <- name + " leads" },
			OnStoppedLeading: func() { h.events <- name + " has stopped" },
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

// cable is the connection, which the lab can cut or limit to reads.
func (c *candidate) cable(next http.RoundTripper) http.RoundTripper {
	return lab.RoundTripper(func(request *http.Request) (*http.Response, error) {
		if c.cut.Load() || c.readOnly.Load() && request.Method != http.MethodGet {
			return nil, errors.New("the cable is cut")
		}
		return next.RoundTrip(request)
	})
}

// see waits for an event and keeps earlier ones for later: their order is not fixed.
func (h *harbour) see(ctx context.Context, want string) error {
	for !slices.Contains(h.seen, want) {
		got, err := lab.Receive(ctx, want, h.events)
		if err != nil {
			return err
		}
		h.seen = append(h.seen, got)
	}
	position := slices.Index(h.seen, want)
	h.seen = slices.Delete(h.seen, position, position+1)
	h.lab.Say("%s", want)
	return nil
}

func (h *harbour) sayLease(ctx context.Context) error {
	lease, err := h.lab.Client.CoordinationV1().Leases(h.lab.Namespace).Get(ctx, "captain", metav1.GetOptions{})
	if err != nil {
		return err
	}
	h.lab.Say("the lease: holder %s, duration %d s, transitions %d", *lease.Spec.HolderIdentity, *lease.Spec.LeaseDurationSeconds, *lease.Spec.LeaseTransitions)
	return nil
}
