// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/fairlead/hack/bench/internal/report"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
)

// G1 and G2: how long new Applications take from the first write to the last one, and what they cost.

// contestant is a client that brings Applications to their desired state.
type contestant string

const (
	byPost       contestant = "raw POST"
	byApply      contestant = "raw server-side apply"
	byController contestant = "controller"
)

// convergence is what G1 and G2 have measured.
type convergence struct {
	seconds map[contestant]report.Sample
	// cpu is the controller's processor time for each Application, in ms.
	cpu report.Sample
	// events are what the controller asked for, in the repeat that made most requests.
	events []event
}

// converge measures the contestants one after the other, each in a control plane of its own that has just started; in the
// next repeat another one begins.
func (b *bench) converge(ctx context.Context) (*convergence, error) {
	c := &convergence{seconds: map[contestant]report.Sample{}}
	contestants := []contestant{byPost, byApply, byController}
	repeats := b.options.repeats
	if !b.options.wants("G1") {
		contestants, repeats = []contestant{byController}, 1
	}
	for repeat := range repeats {
		for i := range contestants {
			who := contestants[(repeat+i)%len(contestants)]
			b.progress.step("%d/%d: %d new Applications, %s", repeat+1, repeats, b.options.applications, who)
			err := inLab(ctx, b.options, func(l *lab) error { return b.convergeBy(ctx, l, who, c) })
			if err != nil {
				return nil, fmt.Errorf("converge by %s: %w", who, err)
			}
			seconds := c.seconds[who]
			b.progress.result("%.2f s, %.0f Applications/s", seconds[len(seconds)-1], float64(b.options.applications)/seconds[len(seconds)-1])
		}
	}
	return c, nil
}

func (b *bench) convergeBy(ctx context.Context, l *lab, who contestant, c *convergence) error {
	if b.options.wants("G1") { // The others are counts.
		if err := b.warmUp(ctx, l); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	applications, err := l.create(ctx, 0, l.options.applications)
	if err != nil {
		return err
	}
	writes, err := l.follow(ctx, measured)
	if err != nil {
		return err
	}
	if who == byController {
		return b.convergeByController(ctx, l, writes, c)
	}
	bundles, err := b.sample.bundles(applications)
	if err != nil {
		return err
	}
	r, err := l.newRaw(b.sample.connections)
	if err != nil {
		return err
	}
	defer r.close()
	how := post
	if who == byApply {
		how = serverSideApply
	}
	if err := r.write(ctx, bundles, how); err != nil {
		return err
	}
	events, err := writes.all(ctx)
	if err != nil {
		return err
	}
	if got, want := countIf(events, isConvergence), (children+1)*len(applications); got != want {
		return fmt.Errorf("the raw client made %d writes, want %d", got, want)
	}
	c.seconds[who] = append(c.seconds[who], took(events).Seconds())
	return nil
}

func (b *bench) convergeByController(ctx context.Context, l *lab, writes *requests, c *convergence) error {
	return l.withController(ctx, func(p *controller) error {
		n := l.options.applications
		if err := writes.untilCalm(ctx, p.subject, settled(n)); err != nil {
			return err
		}
		used, err := p.cpu()
		if err != nil {
			return err
		}
		events, err := writes.all(ctx)
		if err != nil {
			return err
		}
		if err := l.checkSettled(ctx, n); err != nil {
			return err
		}
		c.seconds[byController] = append(c.seconds[byController], took(only(events, isConvergence)).Seconds())
		c.cpu = append(c.cpu, float64(used.Milliseconds())/float64(n))
		if len(events) > len(c.events) {
			c.events = events
		}
		return nil
	})
}

// settled reports whether n Applications have got their children and a status since.
func settled(n int) func([]event) bool {
	return func(events []event) bool {
		created, reported := 0, map[string]bool{}
		for i := range events {
			switch e := &events[i]; {
			case !isConvergence(e):
			case e.Target() == v1.ApplicationResource+"/status":
				reported[e.Namespace+"/"+e.Name] = true
			case e.Verb == "create" && e.Resource != v1.ApplicationResource:
				created++
			}
		}
		return created >= children*n && len(reported) >= n
	}
}

// checkSettled asks the API server whether at least n Applications are where they should be: what is measured must have
// happened.
func (l *lab) checkSettled(ctx context.Context, n int) error {
	done := 0
	for i := range namespaces {
		list, err := l.clients.fairlead.AppsV1().Applications(fmt.Sprintf("%s%d", namespacePrefix, i)).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for j := range list.Items {
			status := &list.Items[j].Status
			if status.ObservedGeneration == list.Items[j].Generation && len(status.Resources) == children {
				done++
			}
		}
	}
	if done < n {
		return fmt.Errorf("%d of %d Applications have %d children and a status of their generation", done, n, children)
	}
	return nil
}

const warmUpNamespace = "warm-up"

// warmUps is how many Applications are written in each way before anything is measured: a new API server is slow at the
// first objects of a kind, and at the first apply.
func warmUps(applications int) int {
	const most, share = 30, 10
	return min(most, applications/share)
}

// warmUp lets the API server write a few Applications in both ways. In the first control plane, the controller brings one
// to rest before.
func (b *bench) warmUp(ctx context.Context, l *lab) error {
	if err := l.createNamespace(ctx, warmUpNamespace); err != nil {
		return err
	}
	if b.sample == nil {
		var err error
		if b.sample, err = l.newSample(ctx); err != nil {
			return err
		}
	}
	r, err := l.newRaw(1)
	if err != nil {
		return err
	}
	defer r.close()
	for i, how := range []method{post, serverSideApply} {
		var applications []*v1.Application
		for j := range warmUps(l.options.applications) {
			application, err := l.createIn(ctx, warmUpNamespace, fmt.Sprintf("warm-up-%d-%d", i, j))
			if err != nil {
				return err
			}
			applications = append(applications, application)
		}
		bundles, err := b.sample.bundles(applications)
		if err != nil {
			return err
		}
		if err := r.write(ctx, bundles, how); err != nil {
			return err
		}
	}
	return nil
}

// newSample lets the controller bring one Application to rest.
func (l *lab) newSample(ctx context.Context) (s *sample, err error) {
	application, err := l.createIn(ctx, warmUpNamespace, "sample")
	if err != nil {
		return nil, err
	}
	err = l.withController(ctx, func(c *controller) error {
		s, err = l.sampleOf(ctx, c, application)
		return err
	})
	return s, err
}

func (l *lab) sampleOf(ctx context.Context, c *controller, application *v1.Application) (*sample, error) {
	const patience, period = 2 * time.Minute, 50 * time.Millisecond
	var live *v1.Application
	err := wait.PollUntilContextTimeout(ctx, period, patience, true, func(ctx context.Context) (bool, error) {
		var err error
		live, err = l.clients.fairlead.AppsV1().Applications(application.Namespace).Get(ctx, application.Name, metav1.GetOptions{})
		return err == nil && len(live.Status.Resources) == children, err
	})
	if err != nil {
		return nil, fmt.Errorf("wait until the controller has brought an Application to rest with %d children: %w", children, err)
	}
	s := &sample{application: live}
	if s.connections, err = c.connections(c.port); err != nil {
		return nil, err
	}
	s.status, err = json.Marshal(live.Status)
	return s, errors.Join(err, l.checkIdentical(ctx, live))
}

func (l *lab) createIn(ctx context.Context, namespace, name string) (*v1.Application, error) {
	application := newApplication(0)
	application.Namespace, application.Name = namespace, name
	created, err := l.clients.fairlead.AppsV1().Applications(namespace).Create(ctx, application, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create Application %s/%s: %w", namespace, name, err)
	}
	return created, nil
}
