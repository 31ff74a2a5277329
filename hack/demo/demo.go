// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/hack/internal/cluster"
	"fairlead.dev/fairlead/hack/internal/objects"
	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
	"fairlead.dev/fairlead/pkg/child"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// namespace is where the examples go, and fieldManager the demo's name as the author of fields.
const (
	namespace    = "fairlead-demo"
	fieldManager = "fairlead-demo"
)

// demo is one run. Its fields fill as the steps go on.
type demo struct {
	options options
	out     *steps.Printer
	files   *workspace
	// died ends the steps because a process ended that should not.
	died context.CancelCauseFunc

	config *rest.Config
	// cluster is nil on the current cluster of kubectl.
	cluster    *cluster.Cluster
	can        abilities
	kube       kubernetes.Interface
	fairlead   versioned.Interface
	objects    *objects.Client
	controller *process.Process
	// apiServer is nil on the current cluster, which may not reach this machine.
	apiServer *process.Process
	// made are the namespace, and what was created outside of it: what a cluster of others must not keep.
	made    []*unstructured.Unstructured
	awaited awaited
	seen    summary
}

// steps are what the demo does, or the tour, in order.
func (d *demo) steps() []steps.Step {
	if d.options.tour {
		return append(d.startSteps(), d.tourSteps()...)
	}
	shown := append(d.startSteps(), d.exampleSteps()...)
	if d.options.current {
		return shown
	}
	return append(shown, d.subresourceSteps()...)
}

func (d *demo) startSteps() []steps.Step {
	title := fmt.Sprintf("Start a Kubernetes control plane with %d simulated nodes", simulatedNodes)
	if d.options.current {
		title = "Use the current cluster of kubectl"
	}
	return []steps.Step{{
		Title:    title,
		Expected: "an API server that answers, and nodes that are ready",
		Timeout:  3 * time.Minute,
		Run:      d.openCluster,
	}, {
		Title:    "Install the CustomResourceDefinitions",
		Expected: "every definition established, and its resources served",
		Timeout:  time.Minute,
		Run:      d.installCRDs,
	}, {
		Title:    "Run the controller, outside of the cluster",
		Expected: "a process that stays alive",
		Timeout:  10 * time.Second,
		Run:      d.startController,
	}}
}

// exampleSteps show the examples at work.
func (d *demo) exampleSteps() []steps.Step {
	return []steps.Step{{
		Title:    "Apply the examples",
		Expected: "every Application with Ready=True for its current generation, and every child Synced",
		Timeout:  3 * time.Minute,
		Run:      d.applyExamples,
	}, {
		Title:    "Damage children behind the controller's back",
		Expected: "each child as it was, an Event DriftRepaired about it, and every Application Ready again",
		Timeout:  time.Minute,
		Run:      d.repairDrift,
	}, {
		Title:    "Apply an Application that cannot work: its route leads to a port that does not exist",
		Expected: "refused by the webhook, or without one Stalled=True/Invalid and no child; both name the field",
		Timeout:  30 * time.Second,
		Run:      d.refuseInvalid,
	}, {
		Title:    "Apply an Application whose image cannot be pulled",
		Expected: "Stalled=True, and Progressing=False/ProgressDeadlineExceeded, 10 seconds after it was applied",
		Timeout:  90 * time.Second,
		Run:      d.exceedDeadline,
	}}
}

// subresourceSteps show what the aggregated API server adds.
func (d *demo) subresourceSteps() []steps.Step {
	return []steps.Step{{
		Title:    "Run the aggregated API server, and ask it how the Applications run",
		Expected: "a table of all Applications",
		Timeout:  time.Minute,
		Run:      d.showSubresources,
	}, {
		Title:    "Restart an Application through it",
		Expected: "a new revision, of which every pod is ready",
		Timeout:  time.Minute,
		Run:      d.restart,
	}}
}

// run runs the steps, and then waits for Ctrl-C if a person watches. It always stops what it started, in order.
func (d *demo) run(ctx context.Context) error {
	all := d.steps()
	stepsCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.died = cancel
	err := d.runner().Run(stepsCtx, all)
	if err == nil {
		d.printSummary()
	}
	if err == nil && !d.options.once {
		runner := d.runner()
		runner.Before = len(all)
		err = runner.Run(stepsCtx, d.stayStep())
	}
	if errors.Is(err, process.ErrInterrupted) {
		d.out.Printf("\nInterrupted. Stopping everything; Ctrl-C again does not wait.")
	}
	// The steps' context has ended, or will: stopping must go on all the same.
	return errors.Join(err, d.stop(context.WithoutCancel(ctx), err != nil))
}

func (d *demo) runner() *steps.Runner {
	return &steps.Runner{Printer: d.out, Diagnose: d.printAwaited}
}

// stayStep lets people play with the cluster, and shows what becomes of the Applications.
func (d *demo) stayStep() []steps.Step {
	return []steps.Step{{
		Title:    "Look around, in another terminal",
		Expected: "a cluster and a controller that stay alive",
		Run: func(ctx context.Context) error {
			d.printHowToConnect()
			return d.showChanges(ctx)
		},
	}}
}

// resourceOf is the client for the children of a kind.
func (d *demo) resourceOf(kind child.Kind) dynamic.ResourceInterface {
	return d.objects.Resource(kind.GroupVersionResource()).Namespace(namespace)
}
