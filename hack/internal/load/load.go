// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// pace is a steady rate. What was late is caught up with, so the rate holds on average.
type pace struct {
	interval time.Duration
	next     time.Time
}

func newPace(perSecond float64) *pace {
	return &pace{interval: time.Duration(float64(time.Second) / perSecond), next: time.Now()}
}

// wait waits for the next turn.
func (p *pace) wait(ctx context.Context) error {
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

// atRate does something at a rate for a while, however long each takes, and returns the rate that came about: it is lower
// if more than so many would have been under way.
func atRate(ctx context.Context, perSecond float64, lasting time.Duration, do func(ctx context.Context, i int) error) (float64, error) {
	const most = 200
	group, doing := errgroup.WithContext(ctx)
	group.SetLimit(most)
	pace, began, turns := newPace(perSecond), time.Now(), 0
	for ; turns < int(perSecond*lasting.Seconds()); turns++ {
		if err := pace.wait(doing); err != nil {
			break // Of the group, or of ctx: both tell below.
		}
		turn := turns // The loop goes on before it is done.
		group.Go(func() error { return do(doing, turn) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	return float64(turns) / time.Since(began).Seconds(), context.Cause(ctx)
}
