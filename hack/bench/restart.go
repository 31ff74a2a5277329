// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/hack/internal/load"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// G4: what a restart over settled Applications costs, and whether a new one has to wait for it.

// leastRestarts are more than one even if G1, which takes half an hour for 10,000 Applications, is not repeated: a restart
// takes seconds, and how long depends on what the API server's collector does meanwhile.
const leastRestarts = 3

func (b *bench) measureRestart(ctx context.Context, l *lab) error {
	restarts := max(leastRestarts, b.options.repeats)
	b.progress.step("G4: %d restarts over %d Applications, each after a bare sync of the same informers", restarts, l.applications)
	var bare, seconds, writes, reads report.Sample
	for range restarts {
		if err := l.collectGarbage(ctx); err != nil {
			return err
		}
		floor, err := l.bareSync(ctx)
		if err != nil {
			return fmt.Errorf("bare sync: %w", err)
		}
		bare = append(bare, floor.Seconds())
		asked, err := l.follow(ctx, fromController)
		if err != nil {
			return err
		}
		if err := l.collectGarbage(ctx); err != nil {
			return err
		}
		took, err := l.restart(ctx)
		if err != nil {
			return fmt.Errorf("restart: %w", err)
		}
		seconds = append(seconds, took.Seconds())
		events, err := asked.all(ctx)
		if err != nil {
			return err
		}
		writes = append(writes, float64(countIf(events, isAnyWrite)))
		reads = append(reads, float64(countIf(events, isRead)))
	}
	b.progress.result("idle after %.2f s, the bare sync took %.2f s", seconds.Median(), bare.Median())
	news, during, err := l.newMeanwhile(ctx)
	if err != nil {
		return fmt.Errorf("new Applications at a restart: %w", err)
	}
	b.add(
		report.Row{Goal: "G4", What: "writes of a restart", Must: report.AtMost(0), Measured: writes},
		report.Row{Goal: "G4", What: "reads outside of the informers", Must: report.AtMost(0), Measured: reads},
		report.Row{
			Goal: "G4", What: "restart until idle, against bare informers", Unit: "s",
			Must: report.AtMostTimes(1.5), Aim: report.AtMostTimes(1.2), Floor: bare, Measured: seconds,
		},
		report.Row{
			Goal: "G4", What: "p99 of a new Application meanwhile", Unit: "ms", Must: report.AtMost(1000),
			Measured: report.Sample{news.Quantile(0.99)},
			Note:     fmt.Sprintf("from the answer to its creation to that of the first child's; %d Applications, %d of them during the first pass over all", len(news), during),
		},
	)
	return nil
}

// restart returns how long the controller takes from the start of its process until there is nothing left to do.
func (l *lab) restart(ctx context.Context) (took time.Duration, err error) {
	err = l.withController(ctx, func(c *controller) error {
		if _, err := c.AwaitLog(ctx, cachesFilled); err != nil {
			return err
		}
		if err := c.awaitSyncs(ctx, l.applications, lookPeriod(l.applications)); err != nil {
			return err
		}
		took = time.Since(c.Began)
		asked, err := l.follow(ctx, fromController)
		if err != nil {
			return err
		}
		// What it puts off would come now.
		return asked.untilCalm(ctx, c.subject, func([]event) bool { return true })
	})
	return took, err
}

// newMeanwhile creates Applications while the controller is busy with its first pass over all, and returns how many
// milliseconds passed until each had its first child.
func (l *lab) newMeanwhile(ctx context.Context) (waited report.Sample, during int, err error) {
	const (
		rate  = 20.0 // a second
		least = 20
		most  = 1000
	)
	about := func(e *event) bool { return measured(e) && e.IsWrite() }
	asked, err := l.follow(ctx, about)
	if err != nil {
		return nil, 0, err
	}
	err = l.withController(ctx, func(c *controller) error {
		if _, err := c.AwaitLog(ctx, cachesFilled); err != nil {
			return err
		}
		first := l.next
		pace := load.NewPace(rate)
		for created := 0; ; created++ {
			m, err := c.metrics(ctx)
			if err != nil {
				return err
			}
			// The first pass is over when few keys wait: a new one does too, if it changes while a worker has it.
			over := m.syncs() >= l.applications && m.depth() <= l.options.workers
			if !over {
				during = created
			}
			if over && created >= least || created == most {
				break
			}
			if err := pace.Wait(ctx); err != nil {
				return err
			}
			if _, err := l.create(ctx, l.next, l.next+1); err != nil {
				return err
			}
			l.next++
		}
		return asked.untilCalm(ctx, c.subject, settled(l.next-first))
	})
	if err != nil {
		return nil, 0, err
	}
	events, err := asked.all(ctx)
	if err != nil {
		return nil, 0, err
	}
	return waits(events,
		func(e *event) (string, bool) {
			return e.Name, e.Verb == "create" && e.Resource == v1.ApplicationResource
		},
		func(e *event) (string, bool) { return e.Name, fromController(e) && e.Verb == "create" },
	), during, nil
}

// bareCommand makes this executable sync informers and end.
const bareCommand = "bare-sync"

// bareSync returns how long a process takes that does nothing but fill the same caches.
func (l *lab) bareSync(ctx context.Context) (time.Duration, error) {
	own, err := os.Executable()
	if err != nil {
		return 0, err
	}
	s, err := l.start(exec.Command(own, bareCommand, l.plane.Kubeconfig()), bareCommand)
	if err != nil {
		return 0, err
	}
	err = s.Wait(ctx)
	return time.Since(s.Began), err
}
