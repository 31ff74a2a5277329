// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/hack/internal/process"
	v1 "fairlead.dev/fairlead/pkg/apis/apps/v1"
	"fairlead.dev/fairlead/pkg/child"
)

// namespace is where the examples go.
const namespace = "fairlead-demo"

// demo is one run. Its fields fill as the steps go on.
type demo struct {
	options options
	screen  *screen
	files   *workspace
	// died is called with the reason when a process ends that should not.
	died func(error)

	cluster    *cluster
	clients    *clients
	controller *process.Process
	applier    *applier
	observer   *observer
	// unwatch ends the observer.
	unwatch context.CancelFunc
	awaited awaited
	seen    summary
}

// steps are what the demo does, or the tour, in order.
func (d *demo) steps() []step {
	if d.options.tour {
		return append(d.startSteps(), d.tourSteps()...)
	}
	return append(d.startSteps(), d.exampleSteps()...)
}

// startSteps make everything run.
func (d *demo) startSteps() []step {
	return []step{
		{
			title:    d.clusterTitle(),
			expected: "an API server that answers, and nodes that are ready",
			deadline: 3 * time.Minute,
			run:      d.openCluster,
		},
		{
			title:    "Install the CustomResourceDefinitions",
			expected: "every definition established, and its resources served",
			deadline: time.Minute,
			run:      d.installCRDs,
		},
		{
			title:    "Run the controller, outside of the cluster",
			expected: "a process that stays alive",
			deadline: 10 * time.Second,
			run:      d.startController,
		},
	}
}

// exampleSteps show the examples at work.
func (d *demo) exampleSteps() []step {
	return []step{
		{
			title:    "Apply the examples",
			expected: "every Application with Ready=True for its current generation, and every child Synced",
			deadline: 3 * time.Minute,
			run:      d.applyExamples,
		},
		{
			title:    "Damage children behind the controller's back",
			expected: "each child as it was, an Event DriftRepaired about it, and every Application Ready again",
			deadline: time.Minute,
			run:      d.repairDrift,
		},
		{
			title:    "Apply an Application that cannot work: its route leads to a port that does not exist",
			expected: "refused by the webhook, or without one Stalled=True/Invalid and no child; both name the field",
			deadline: 30 * time.Second,
			run:      d.refuseInvalid,
		},
		{
			title:    "Apply an Application whose image cannot be pulled",
			expected: "Stalled=True, and Progressing=False/ProgressDeadlineExceeded, 10 seconds after it was applied",
			deadline: 90 * time.Second,
			run:      d.exceedDeadline,
		},
	}
}

// run performs the steps, and stays until ctx ends if somebody watches. Whatever happens, it stops everything that it
// started, in order.
func (d *demo) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.died = cancel
	err := performAll(ctx, d.screen, d.steps(), d.lastSeen)
	if err == nil {
		d.screen.print(d.report()...)
		if !d.options.once {
			err = d.stay(ctx)
		}
	}
	d.screen.wipe()
	if errors.Is(err, process.ErrInterrupted) {
		d.screen.print(nil, line{text("Interrupted. Stopping everything; Ctrl-C again does not wait.")})
	}
	// The steps' context has ended, or will: stopping must go on all the same.
	return errors.Join(err, d.stop(context.WithoutCancel(ctx), err != nil))
}

// report is what was seen, for people.
func (d *demo) report() []line {
	if d.options.tour {
		return []line{nil, {d.screen.style.mark(good), text(" Every step of the tour was seen")}}
	}
	return d.seen.report(d.screen.style)
}

// stay shows how things stand until Ctrl-C, so that people can play with the cluster and see what happens.
func (d *demo) stay(ctx context.Context) error {
	d.screen.print(d.howToConnect()...)
	stop := d.show()
	<-ctx.Done()
	stop()
	if err := context.Cause(ctx); !errors.Is(err, process.ErrInterrupted) {
		return &failure{step: step{title: "Wait for Ctrl-C", expected: "a cluster and a controller that stay alive"}, cause: err, seen: d.lastSeen()}
	}
	return nil
}

// show draws the Applications of these names, or all for none, until stop is called: as a picture that is renewed, or
// where that is not possible as a line for each change.
func (d *demo) show(names ...string) (stop func()) {
	if !d.screen.live {
		return tellChanges(d.observer, d.screen, names)
	}
	return drawTree(d.observer, d.screen, names)
}

// lastSeen shows the Applications that were waited for last and are not as wanted.
func (d *demo) lastSeen() []line {
	if d.awaited.wanted == nil {
		return nil
	}
	var missing []*v1.Application
	for _, application := range d.observer.list(d.awaited.names...) {
		if !d.awaited.wanted(application) {
			missing = append(missing, application)
		}
	}
	return tree(missing, d.screen.style, 0)
}

// awaited are Applications that are waited for, and how they should be.
type awaited struct {
	names  []string
	wanted func(*v1.Application) bool
}

// resourceOf is the client for the children of a kind.
func (d *demo) resourceOf(kind child.Kind) dynamic.ResourceInterface {
	return d.clients.dynamic.Resource(kind.GroupVersionResource()).Namespace(namespace)
}

func (d *demo) clusterTitle() string {
	if d.options.current {
		return "Use the current cluster of kubectl"
	}
	return fmt.Sprintf("Start a Kubernetes control plane with %d simulated nodes", simulatedNodes)
}
