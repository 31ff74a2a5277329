// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package load does something again and again, at a steady rate.
package load

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Pace is a steady rate. What was late is caught up with, so the rate holds on average.
type Pace struct {
	interval time.Duration
	next     time.Time
}

// NewPace returns a pace whose first turn is now.
func NewPace(perSecond float64) *Pace {
	return &Pace{interval: time.Duration(float64(time.Second) / perSecond), next: time.Now()}
}

// Wait waits for the next turn.
func (p *Pace) Wait(ctx context.Context) error {
	timer := time.NewTimer(time.Until(p.next))
	defer timer.Stop()
	p.next = p.next.Add(p.interval)
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// AtRate does something at a rate for a while, however long each takes, and returns the rate that came about: it is lower
// if more than inFlight would have been under way.
func AtRate(ctx context.Context, perSecond float64, lasting time.Duration, inFlight int, do func(ctx context.Context, i int) error) (float64, error) {
	group, doing := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	pace, began, turns := NewPace(perSecond), time.Now(), 0
	for ; turns < int(perSecond*lasting.Seconds()); turns++ {
		if err := pace.Wait(doing); err != nil {
			break // Of the group, or of ctx: both are returned below.
		}
		turn := turns // The loop goes on before it is done.
		group.Go(func() error { return do(doing, turn) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return float64(turns) / time.Since(began).Seconds(), context.Cause(ctx)
}

// Keep does something once in a period by each worker, until stop is called; what is under way then ends before stop
// returns.
func Keep(ctx context.Context, workers int, period time.Duration, do func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			ticker := time.NewTicker(period)
			defer ticker.Stop()
			for {
				do(ctx)
				select {
				case <-ticker.C:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	return func() {
		cancel()
		group.Wait()
	}
}
