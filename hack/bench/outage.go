// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"time"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// G9: how soon everything is as it should be after the API server was away.

// measureOutage changes every Application while the controller cannot see it, takes the API server away for a while, and
// measures from when it is back.
func (b *bench) measureOutage(ctx context.Context, l *lab) error {
	n := l.applications
	b.progress.step("G9: %d Applications changed, and no API server for %s", n, b.options.outage)
	// first is negative if something was written before the API server called itself ready: that counts, too.
	first, last := 0.0, math.Inf(-1)
	err := l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, n); err != nil {
			return err
		}
		asked, err := l.follow(ctx, func(e *event) bool { return measured(e) && fromController(e) && isConvergence(e) })
		if err != nil {
			return err
		}
		// Stopped, it does not read its watches. It reads what is in their buffers later, while the API server is away.
		c.Signal(syscall.SIGSTOP)
		_, err = l.changeAll(ctx)
		if err == nil {
			err = l.plane.Act(ctx, controlplane.KubeAPIServer, "kill")
		}
		c.Signal(syscall.SIGCONT)
		if err != nil {
			return err
		}
		if err := sleep(ctx, b.options.outage); err != nil {
			return err
		}
		if err := l.plane.Act(ctx, controlplane.KubeAPIServer, "start"); err != nil {
			return err
		}
		back := time.Now()
		if err := asked.untilCalm(ctx, c.subject, allFollowed(n)); err != nil {
			return err
		}
		events, err := asked.all(ctx)
		for i := range events {
			first = min(first, events[i].Received.Sub(back).Seconds())
			last = max(last, events[i].Completed.Sub(back).Seconds())
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("outage: %w", err)
	}
	floor, err := l.replay(ctx)
	if err != nil {
		return fmt.Errorf("replay by the raw client: %w", err)
	}
	seconds := last - first
	b.progress.result("%.2f s, of them %.2f s before the API server was ready; the raw client takes %.2f s", seconds, -first, floor)
	b.add(report.Row{
		Goal: "G9", What: "converged after an outage, against a raw replay", Unit: "s",
		Must: report.AtMostTimes(1.5).Plus(30), Aim: report.AtMostTimes(1.2), Floor: report.Sample{floor}, Measured: report.Sample{seconds},
		Note: fmt.Sprintf("%d changed Applications, %s without an API server; from when it was ready again, and from the first write if that was before: %.1f s",
			n, b.options.outage, -first),
	})
	return nil
}

// changeAll gives every Application another image.
func (l *lab) changeAll(ctx context.Context) ([]*v1.Application, error) {
	changed := make([]*v1.Application, l.applications)
	tag := l.tag()
	err := inParallel(ctx, l.options.workers, l.applications, func(ctx context.Context, i int) error {
		var err error
		changed[i], err = l.changeImage(ctx, l.clients, i, tag)
		return err
	})
	return changed, err
}

// allFollowed reports whether n Deployments and n status have been written.
func allFollowed(n int) func([]event) bool {
	return func(events []event) bool {
		deployments, statuses := map[string]bool{}, map[string]bool{}
		for i := range events {
			switch e := &events[i]; {
			case e.Resource == "deployments":
				deployments[e.Namespace+"/"+e.Name] = true
			case isStatusWrite(e):
				statuses[e.Namespace+"/"+e.Name] = true
			}
		}
		return len(deployments) >= n && len(statuses) >= n
	}
}

// replay is how many seconds the raw client takes for the same writes, with everything encoded before.
func (l *lab) replay(ctx context.Context) (float64, error) {
	s, err := l.anySample(ctx)
	if err != nil {
		return 0, err
	}
	changed, err := l.changeAll(ctx)
	if err != nil {
		return 0, err
	}
	bundles, err := s.bundles(changed)
	if err != nil {
		return 0, err
	}
	r, err := l.newRaw(s.connections)
	if err != nil {
		return 0, err
	}
	defer r.close()
	began := time.Now()
	err = inParallel(ctx, r.workers, len(bundles), func(ctx context.Context, i int) error {
		return bundles[i].follow(ctx, r.connections[i%len(r.connections)])
	})
	return time.Since(began).Seconds(), err
}

func sleep(ctx context.Context, duration time.Duration) error {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
