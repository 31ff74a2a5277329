// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/hack/bench/internal/report"
)

// G3: what it costs to look at every Application although nothing changed.

// resyncPeriod leaves time for a start and for the resync itself.
func resyncPeriod(applications int) time.Duration {
	const least, each = 5 * time.Second, 5500 * time.Microsecond
	return (least + time.Duration(applications)*each).Round(time.Second)
}

func (b *bench) measureResync(ctx context.Context, l *lab) error {
	n, period := l.applications, resyncPeriod(l.applications)
	b.progress.step("G3: %d resyncs of %d Applications, one every %s", b.rounds(), n, period)
	var seconds, writes, reads report.Sample
	err := l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, n); err != nil {
			return err
		}
		for range b.rounds() {
			asked, err := l.follow(ctx, fromController)
			if err != nil {
				return err
			}
			used, err := c.resync(ctx, n)
			if err != nil {
				return err
			}
			events, err := asked.all(ctx)
			if err != nil {
				return err
			}
			seconds = append(seconds, used.Seconds())
			writes = append(writes, float64(countIf(events, isAnyWrite)))
			reads = append(reads, float64(countIf(events, isGetOrList)))
		}
		return nil
	}, "--resync-period="+period.String())
	if err != nil {
		return fmt.Errorf("resync: %w", err)
	}
	b.progress.result("%.2f s of processor time", seconds.Median())
	b.add(
		report.Row{Goal: "G3", What: "writes of a full resync", Must: report.AtMost(0), Measured: writes},
		report.Row{Goal: "G3", What: "reads of a full resync", Must: report.AtMost(0), Measured: reads},
		report.Row{
			Goal: "G3", What: "processor time of a full resync", Unit: "s",
			Must: report.AtMost(perTenThousand(5, n)), Aim: report.AtMost(perTenThousand(2, n)), Measured: seconds,
			Note: "the limits are 5 s and 2 s for 10,000 Applications, and in proportion for less",
		},
	)
	return nil
}

// perTenThousand is a limit for 10,000 Applications in proportion to how many there are.
func perTenThousand(limit float64, applications int) float64 {
	const tenThousand = 10_000
	return limit * float64(applications) / tenThousand
}

// resync waits for the next resync and returns the processor time that it took. Until it is over it
// reads no metrics, since an answer costs the controller something too: the kernel shows when it has worked and is quiet.
func (c *controller) resync(ctx context.Context, applications int) (time.Duration, error) {
	const (
		period = 100 * time.Millisecond
		quiet  = 2 * time.Second
		work   = 2 * tick // what a process at rest does not use in a while
	)
	m, err := c.metrics(ctx)
	if err != nil {
		return 0, err
	}
	begin, err := c.cpu()
	if err != nil {
		return 0, err
	}
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	looked, lookedAt := begin, time.Now()
	for last, since := begin, time.Now(); ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		used, err := c.cpu()
		if err != nil {
			return 0, err
		}
		if used > last {
			last, since = used, time.Now()
		}
		// A resync of a few Applications is too little work to be seen, but there is one in each period.
		worked := used >= looked+work || time.Since(lookedAt) > resyncPeriod(applications)
		if !worked || time.Since(since) < quiet {
			continue
		}
		now, err := c.metrics(ctx)
		if err != nil {
			return 0, err
		}
		if now.syncs() >= m.syncs()+applications && now.idle() {
			return used - begin, nil
		}
		looked, lookedAt = used, time.Now()
	}
}

// awaitRest waits until the controller has looked at all Applications after its start, and makes no request any more.
func (l *lab) awaitRest(ctx context.Context, c *controller, applications int) error {
	asked, err := l.follow(ctx, func(e *event) bool { return fromController(e) && e.IsWrite() })
	if err != nil {
		return err
	}
	if err := c.awaitSyncs(ctx, applications, lookPeriod(applications)); err != nil {
		return err
	}
	return asked.untilCalm(ctx, c.subject, func([]event) bool { return true })
}

// lookPeriod is how often a start is looked at. A look costs the controller more, the more Applications there are.
func lookPeriod(applications int) time.Duration {
	const least, each = 20 * time.Millisecond, 20 * time.Microsecond
	return least + time.Duration(applications)*each
}
