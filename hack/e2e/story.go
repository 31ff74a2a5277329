// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/hack/e2e/internal/node"
	"fairlead.dev/fairlead/pkg/generated/clientset/versioned"
)

// Names in the cluster.
const (
	nodeName          = "node-1"
	operatorNamespace = "fairlead-system"
	operatorName      = "fairlead-controller"
	// namespace is where the Applications are.
	namespace = "shop"
	webName   = "web"
)

// The images. localhost says that no registry has them.
const (
	operatorImage     = "localhost/fairlead-controller:e2e"
	operatorNextImage = "localhost/fairlead-controller:e2e-next"
	operatorNext      = "v0.9.9-e2e"
	workloadImage     = "localhost/workload:1"
	workloadNextImage = "localhost/workload:2"
	pauseImage        = "localhost/pause:1"
)

// step is one part of the test. It succeeds only if what it expects was seen.
type step struct {
	title    string
	expected string
	deadline time.Duration
	run      func(context.Context) error
}

// story is one run. Its fields fill as the steps go on.
type story struct {
	options  options
	screen   *screen
	died     chan error // why a process ended that should not
	node     *node.Node
	config   *rest.Config
	kube     kubernetes.Interface
	fairlead versioned.Interface
	figures  []figure
}

// figure is something measured, for the table at the end.
type figure struct {
	what, measured, goal string
}

func newStory(o options, out *screen) *story {
	return &story{options: o, screen: out, died: make(chan error, 16)}
}

// imageSteps need the machine's network, the first time.
func (s *story) imageSteps() []step {
	return []step{{
		title:    "Build the images",
		expected: "the operator's image from the project's Dockerfile, twice; a server to run as an Application",
		deadline: 20 * time.Minute,
		run:      s.buildImages,
	}}
}

// clusterSteps happen in the sandbox.
func (s *story) clusterSteps() []step {
	return []step{
		{
			title:    "Start a control plane and a real node",
			expected: "an API server, and a node that is Ready: containerd, runc, kubelet, kube-proxy",
			deadline: 3 * time.Minute,
			run:      s.startCluster,
		},
		{
			title:    "Deploy the operator as a user would: make deploy",
			expected: "two replicas Ready under Pod Security restricted, one of them the leader",
			deadline: 3 * time.Minute,
			run:      s.deploy,
		},
		{
			title:    "Refuse a bad Application at the door",
			expected: "a refusal by the webhook, reached through its Service, that names the field",
			deadline: time.Minute,
			run:      s.refuse,
		},
		{
			title:    "Serve",
			expected: "an Application that is Ready, and answers through its Service's address",
			deadline: time.Minute,
			run:      s.serve,
		},
		{
			title:    "Roll out a new image while clients keep asking",
			expected: "the new version from every pod, and not one failed request",
			deadline: 2 * time.Minute,
			run:      s.rollOut,
		},
		{
			title:    "Say what is wrong with pods that do not serve",
			expected: "Ready=False on each Application, with the reason of its pods",
			deadline: 4 * time.Minute, // A volume has a minute to be mounted.
			run:      s.showTrouble,
		},
		{
			title:    "Ask the webhooks 200 times a second",
			expected: "answers, and how long they take; this is measured, not judged",
			deadline: 2 * time.Minute,
			run:      s.measureWebhooks,
		},
		{
			title:    "Kill the leader with SIGKILL",
			expected: "the other replica leads and does the work; never two at a time",
			deadline: 2 * time.Minute,
			run:      s.killLeader,
		},
		{
			title:    "Open the live view through a forwarded port",
			expected: "the page, and its stream that follows an edit to the write",
			deadline: 2 * time.Minute,
			run:      s.showView,
		},
		{
			title:    "Upgrade the operator: make deploy with the next image",
			expected: "both replicas of the next version, and no write to any Application or child",
			deadline: 3 * time.Minute,
			run:      s.upgrade,
		},
		{
			title:    "End the leader with SIGTERM",
			expected: "it hands over; the other replica leads and does the work; never two at a time",
			deadline: 2 * time.Minute,
			run:      s.endLeader,
		},
		{
			title:    "Take the operator out: make undeploy",
			expected: "no operator and no webhook; Applications and their children stay, and serve",
			deadline: 3 * time.Minute,
			run:      s.undeploy,
		},
	}
}

// stayAfter is how many of the cluster's steps -stay carries out.
const stayAfter = 4

// perform carries the steps out, one after the other, until one fails.
func (s *story) perform(ctx context.Context, steps []step) error {
	before, total := 0, len(s.imageSteps())+len(s.clusterSteps())
	if s.options.stage == stageStory {
		before = len(s.imageSteps())
		if s.options.stay {
			steps = steps[:stayAfter]
		}
	}
	for i, current := range steps {
		s.screen.title(before+i+1, total, current.title)
		if err := s.performOne(ctx, current); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			s.tellFailure(current, err)
			return errTold
		}
	}
	if s.options.stage != stageStory {
		return nil
	}
	if s.options.stay {
		s.screen.note("Everything keeps running until Ctrl-C.")
		<-ctx.Done()
		return nil
	}
	s.tellFigures()
	return nil
}

func (s *story) performOne(ctx context.Context, current step) error {
	ctx, cancel := context.WithTimeoutCause(ctx, current.deadline, fmt.Errorf("not within %s", current.deadline))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case err := <-s.died:
			end(err)
		case <-done:
		}
	}()
	err := current.run(ctx)
	// Why the context ended says more than what the step makes of it.
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w\n%w", cause, err)
	}
	return err
}

func (s *story) tellFailure(failed step, err error) {
	s.screen.fail("This step failed.\nexpected: %s\nbut:      %v", failed.expected, err)
	if s.node == nil {
		return
	}
	if logs := s.node.Logs(operatorNamespace, operatorName); logs != "" {
		s.screen.note("The last lines of the operator's logs:\n%s", logs)
	}
}

func (s *story) tellFigures() {
	s.screen.print("\n" + s.screen.toned(bold, "Passed. Measured on this machine, with everything beside it:"))
	for _, f := range s.figures {
		s.screen.print(fmt.Sprintf("  %-62s %10s   %s", f.what, f.measured, s.screen.toned(faint, f.goal)))
	}
}

// await repeats check until it is done, and shows meanwhile what check saw. An error of check counts as seen: while a
// replica is being killed, a request may fail.
func (s *story) await(ctx context.Context, what string, check func(context.Context) (done bool, seen string, err error)) error {
	began := time.Now()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		done, seen, err := check(ctx)
		if err == nil && done {
			return nil
		}
		if err != nil {
			seen = err.Error()
		}
		s.screen.waiting(what, seen, began)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: waiting for %s, last seen: %s", context.Cause(ctx), what, seen)
		}
	}
}
