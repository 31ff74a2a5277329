// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	"fairlead.dev/fairlead/hack/internal/metrics"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

// G11: whether a controller that runs for long stays as it is.

const (
	// soakRate is how many Applications a second change, or are deleted and created again.
	soakRate = 2
	// soakLooks is how often the controller is looked at.
	soakLooks = 240
	// soakFaults is how many faults there are on the way.
	soakFaults = 12
	// warmUpRate is how many Applications a second change before the soak.
	warmUpRate = 20
	// steadyEnough is the slope, in percent an hour, below which a line is flat.
	steadyEnough = 1
)

// look is the controller at one moment.
type look struct {
	at                                       time.Duration
	rss, anonymous, heap, goroutines, series float64
	// watches are those that are open at the API server. They are not known while it is away.
	watches float64
	known   bool
}

// measureSoak lets the controller work for the duration, disturbed now and then, and looks how it fares.
func (b *bench) measureSoak(ctx context.Context, l *lab) error {
	b.progress.step("G11: %d Applications, %d changes a second and %d faults, for %s", l.applications, soakRate, soakFaults, b.options.soak)
	if err := l.limitHistories(ctx); err != nil {
		return err
	}
	var looks []look
	err := l.withController(ctx, func(c *controller) error {
		if err := l.awaitRest(ctx, c, l.applications); err != nil {
			return err
		}
		if err := l.warmUp(ctx, c); err != nil {
			return err
		}
		work, stop := context.WithCancel(ctx)
		defer stop()
		done := make(chan error, 2)
		go func() { done <- l.soakChanges(work, soakRate, b.options.soak) }()
		go func() { done <- l.disturbSoak(work, c, b.options.soak) }()
		var err error
		if looks, err = l.soakLooks(ctx, c, b.options.soak); err != nil {
			return err
		}
		stop()
		return errors.Join(<-done, <-done)
	})
	if err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	b.reportSoak(looks)
	return nil
}

// limitHistories limits the histories of the Applications, whose revisions the controller has in memory: each is full after
// its first change. With five revisions, they would grow for most of the hour.
func (l *lab) limitHistories(ctx context.Context) error {
	return inParallel(ctx, l.options.workers, l.applications, func(ctx context.Context, i int) error {
		application := newApplication(i)
		_, err := l.clients.fairlead.AppsV1().Applications(application.Namespace).
			Patch(ctx, application.Name, types.MergePatchType, []byte(`{"spec":{"revisionHistoryLimit":1}}`), metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("limit the history of Application %s/%s: %w", application.Namespace, application.Name, err)
		}
		return nil
	})
}

// warmUp has happen once what the controller is going to see: it changes every Application, which fills its history, and causes each
// fault. What the controller and the Go runtime keep from then on is no growth.
func (l *lab) warmUp(ctx context.Context, c *controller) error {
	if err := l.soakChanges(ctx, warmUpRate, time.Duration(l.churned())*time.Second/warmUpRate); err != nil {
		return err
	}
	for _, fault := range l.soakFaults(c) {
		if err := fault(ctx); err != nil {
			return fmt.Errorf("disturb: %w", err)
		}
		if err := sleep(ctx, 10*time.Second); err != nil {
			return err
		}
	}
	return nil
}

// soakChanges changes images; every tenth Application is deleted and created again instead. The API server is away now and
// then, so what fails is left for the next turn.
func (l *lab) soakChanges(ctx context.Context, rate float64, lasting time.Duration) error {
	_, err := atRate(ctx, rate, lasting, func(ctx context.Context, turn int) error {
		i := turn % l.churned()
		if turn%10 != 0 {
			_, _ = l.changeImage(ctx, l.clients, i, l.tag())
			return nil
		}
		application := newApplication(i)
		client := l.clients.fairlead.AppsV1().Applications(application.Namespace)
		_ = client.Delete(ctx, application.Name, metav1.DeleteOptions{})
		_, _ = client.Create(ctx, application, metav1.CreateOptions{})
		return nil
	})
	return unlessEnded(ctx, err)
}

// unlessEnded drops the error of work that the end of the soak has interrupted.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// soakFaults are the faults: they kill the API server, stop etcd and stop the controller, each for a few seconds.
func (l *lab) soakFaults(c *controller) []func(context.Context) error {
	return []func(context.Context) error{
		func(ctx context.Context) error {
			return errors.Join(l.plane.Act(ctx, controlplane.KubeAPIServer, "kill"), sleep(ctx, 3*time.Second), l.plane.Act(ctx, controlplane.KubeAPIServer, "start"))
		},
		func(ctx context.Context) error {
			return errors.Join(l.plane.Act(ctx, controlplane.Etcd, "pause"), sleep(ctx, 5*time.Second), l.plane.Act(ctx, controlplane.Etcd, "resume"))
		},
		func(ctx context.Context) error {
			c.Signal(syscall.SIGSTOP)
			defer c.Signal(syscall.SIGCONT)
			return sleep(ctx, 5*time.Second)
		},
	}
}

// disturbSoak causes faults, drawn and at equal distances.
func (l *lab) disturbSoak(ctx context.Context, c *controller, lasting time.Duration) error {
	faults := l.soakFaults(c)
	for range soakFaults {
		if err := sleep(ctx, lasting/(soakFaults+1)); err != nil {
			return unlessEnded(ctx, err)
		}
		// A fault is ended even if the soak ends meanwhile.
		if err := faults[rand.N(len(faults))](context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("disturb: %w", err)
		}
	}
	return nil
}

// soakLooks looks at the controller again and again, at equal distances.
func (l *lab) soakLooks(ctx context.Context, c *controller, lasting time.Duration) ([]look, error) {
	begin := time.Now()
	looks := make([]look, 0, soakLooks)
	for i := range soakLooks {
		if err := sleep(ctx, time.Until(begin.Add(lasting*time.Duration(i+1)/soakLooks))); err != nil {
			return nil, err
		}
		next, err := l.look(ctx, c)
		if err != nil {
			return nil, err
		}
		next.at = time.Since(begin)
		looks = append(looks, next)
	}
	return looks, nil
}

// look reads what the kernel and the controller itself say, after a collection: between two of them, the memory of a process
// goes up and down by more than a leak would add in an hour. The live heap is what the collection found, without what has been
// allocated since.
func (l *lab) look(ctx context.Context, c *controller) (look, error) {
	if _, err := c.get(ctx, "/debug/pprof/heap?gc=1"); err != nil {
		return look{}, err
	}
	rss, anonymous, err := c.memory()
	if err != nil {
		return look{}, err
	}
	m, err := c.metrics(ctx)
	if err != nil {
		return look{}, err
	}
	next := look{rss: float64(rss) / mebibyte, anonymous: float64(anonymous) / mebibyte}
	for name, family := range m.Families {
		next.series += float64(len(family.GetMetric()))
		switch name {
		case "go_goroutines":
			next.goroutines = family.GetMetric()[0].GetGauge().GetValue()
		case "go_gc_heap_live_bytes":
			next.heap = family.GetMetric()[0].GetGauge().GetValue() / mebibyte
		}
	}
	next.watches, next.known = l.openWatches(ctx)
	return next, nil
}

// openWatches asks the API server how many watches of all clients are open.
func (l *lab) openWatches(ctx context.Context) (open float64, known bool) {
	body, err := l.clients.kube.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, false
	}
	families, err := metrics.Parse(body)
	if err != nil {
		return 0, false
	}
	for _, series := range families["apiserver_longrunning_requests"].GetMetric() {
		if slices.ContainsFunc(series.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == "verb" && l.GetValue() == "WATCH" }) {
			open += series.GetGauge().GetValue()
		}
	}
	return open, true
}

// reportSoak draws the lines and judges their slopes.
func (b *bench) reportSoak(looks []look) {
	for _, line := range []struct {
		what, unit string
		of         func(look) float64
	}{
		{"resident memory", "MiB", func(l look) float64 { return l.rss }},
		{"anonymous memory", "MiB", func(l look) float64 { return l.anonymous }},
		{"live heap", "MiB", func(l look) float64 { return l.heap }},
		{"goroutines", "", func(l look) float64 { return l.goroutines }},
		{"open watches", "", func(l look) float64 { return l.watches }},
		{"series of metrics", "", func(l look) float64 { return l.series }},
	} {
		var points []point
		for _, l := range looks {
			if l.known {
				points = append(points, point{l.at.Hours(), line.of(l)})
			}
		}
		fmt.Fprintf(b.out, "\n%s %s\n%smedians of the quarters: %.1f\n", line.what, line.unit, chart(points), quarters(points))
		row := report.Row{Goal: "G11", What: "slope of " + line.what, Unit: "%/h", Measured: report.Sample{slope(points[len(points)/4:])}}
		if b.options.soak >= time.Hour { // Less says little: the garbage collector alone moves the line more.
			row.Must = report.AtMost(steadyEnough)
		}
		b.add(row)
	}
}
