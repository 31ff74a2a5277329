// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/fairlead/hack/e2e/internal/node"
	"fairlead.dev/fairlead/hack/internal/steps"
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

// story is one run. Its fields fill as the steps go on.
type story struct {
	options options
	out     *steps.Printer
	// died ends the steps because a process ended that should not.
	died     context.CancelCauseFunc
	node     *node.Node
	config   *rest.Config
	kube     kubernetes.Interface
	fairlead versioned.Interface
	figures  []figure
	// entry is the address of the Ingress controller, or "" if none runs.
	entry string
	// installation is how long it took from make deploy to two pods that are Ready.
	installation time.Duration
}

// figure is something measured, for the table at the end.
type figure struct {
	what, measured, goal string
}

// imageSteps need the machine's network, the first time.
func (s *story) imageSteps() []steps.Step {
	all := []steps.Step{{
		Title:    "Build the images",
		Expected: "the operator's image from the project's Dockerfile, twice; a server to run as an Application",
		Timeout:  20 * time.Minute,
		Run:      s.buildImages,
	}, {
		Title:    "Prepare what the tutorial needs",
		Expected: "the two images that its reader builds, and kubectl",
		Timeout:  20 * time.Minute,
		Run:      s.prepareTutorial,
	}, {
		Title:    "Compile Helm",
		Expected: "the version that hack/chart pins, and a chart to upgrade from",
		Timeout:  20 * time.Minute,
		Run:      s.prepareChart,
	}, {
		Title:    "Compile the plugin",
		Expected: "kubectl fairlead, to adopt what runs already",
		Timeout:  20 * time.Minute,
		Run:      s.preparePlugin,
	}}
	if len(s.options.beside) > 0 {
		return all[:2]
	}
	return all
}

// clusterSteps happen in the sandbox.
func (s *story) clusterSteps() []steps.Step {
	all := []steps.Step{
		{
			Title:    "Start a control plane and a real node",
			Expected: "an API server, and a node that is Ready: containerd, runc, kubelet, kube-proxy",
			Timeout:  3 * time.Minute,
			Run:      s.startCluster,
		},
		{
			Title:    "Deploy the operator as a user would: make deploy",
			Expected: "two replicas Ready under Pod Security restricted, one of them the leader",
			Timeout:  3 * time.Minute,
			Run:      s.deploy,
		},
		{
			Title:    "Refuse a bad Application at the door",
			Expected: "a refusal by the webhook, reached through its Service, that names the field",
			Timeout:  time.Minute,
			Run:      s.refuse,
		},
		{
			Title:    "Serve",
			Expected: "an Application that is Ready, and answers through its Service's address",
			Timeout:  time.Minute,
			Run:      s.serve,
		},
		{
			Title:    "Roll out a new image while clients keep asking",
			Expected: "the new version from every pod, and not one failed request",
			Timeout:  2 * time.Minute,
			Run:      s.rollOut,
		},
		{
			Title:    "Follow docs/tutorial.md",
			Expected: "what the tutorial shows below each command",
			Timeout:  5 * time.Minute,
			Run:      s.followTutorial,
		},
		{
			Title:    "Say what is wrong with pods that do not serve",
			Expected: "Ready=False on each Application, with the reason of its pods",
			Timeout:  4 * time.Minute, // A volume has a minute to be mounted.
			Run:      s.showTrouble,
		},
		{
			Title:    "Adopt what runs already, take it back, adopt it again, roll it out and eject it, while clients keep asking",
			Expected: "ten Deployments of different shapes, and not one failed request",
			Timeout:  5 * time.Minute,
			Run:      s.adoptAll,
		},
		{
			Title:    "Ask the webhooks 200 times a second",
			Expected: "answers, and how long they take; this is measured, not judged",
			Timeout:  2 * time.Minute,
			Run:      s.measureWebhooks,
		},
		{
			Title:    "Kill the leader with SIGKILL",
			Expected: "the other replica leads and does the work; never two at a time",
			Timeout:  2 * time.Minute,
			Run:      s.killLeader,
		},
		{
			Title:    "Open the live view through a forwarded port",
			Expected: "the page, and its stream that follows an edit to the write",
			Timeout:  2 * time.Minute,
			Run:      s.showView,
		},
		{
			Title:    "Deploy the aggregated API, and read, execute and forward through it",
			Expected: "one log of three pods that goes on while one is replaced, exec, and a forwarded port",
			Timeout:  4 * time.Minute,
			Run:      s.useSubresources,
		},
		{
			Title:    "Upgrade the operator: make deploy with the next image",
			Expected: "both replicas of the next version, and no write to any Application or child",
			Timeout:  3 * time.Minute,
			Run:      s.upgrade,
		},
		{
			Title:    "End the leader with SIGTERM",
			Expected: "it hands over; the other replica leads and does the work; never two at a time",
			Timeout:  2 * time.Minute,
			Run:      s.endLeader,
		},
		{
			Title:    "Take the operator out: make undeploy",
			Expected: "no operator, webhook or aggregated API; Applications and their children stay, and serve",
			Timeout:  3 * time.Minute,
			Run:      s.undeploy,
		},
		{
			Title:    "Install the chart, upgrade it, roll it back and uninstall it",
			Expected: "an operator that works after each, the same pods of the Application, and not one failed request",
			Timeout:  8 * time.Minute,
			Run:      s.useChart,
		},
	}
	if len(s.options.beside) > 0 {
		return append(all[:stayAfter], s.besideSteps()...)
	}
	if s.options.dist != "" {
		all = append(all, steps.Step{
			Title:    "Install from the release in " + s.options.dist,
			Expected: "an operator of its chart and of its install.yaml, with its image by digest, and its plugin",
			Timeout:  5 * time.Minute,
			Run:      s.installRelease,
		})
	}
	return all
}

// stayAfter is how many of the cluster's steps -stay runs.
const stayAfter = 4

// build runs the first stage, and test the second one.
func (s *story) build(ctx context.Context) error {
	return s.run(ctx, &steps.Runner{After: len(s.clusterSteps())}, s.imageSteps())
}

func (s *story) test(ctx context.Context) error {
	all := s.clusterSteps()
	if s.options.stay {
		all = all[:stayAfter]
	}
	if err := s.run(ctx, &steps.Runner{Before: len(s.imageSteps())}, all); err != nil {
		return err
	}
	if s.options.stay {
		s.out.Note("Everything keeps running until Ctrl-C.")
		<-ctx.Done()
		return nil
	}
	s.out.Title("Passed. Measured on this machine, with everything beside it:")
	for _, f := range s.figures {
		s.out.Print(steps.Line{steps.Plain.Textf("  %-62s %10s   ", f.what, f.measured), steps.Faint.Textf("%s", f.goal)})
	}
	return nil
}

func (s *story) run(ctx context.Context, runner *steps.Runner, all []steps.Step) error {
	ctx, s.died = context.WithCancelCause(ctx)
	defer s.died(nil)
	runner.Printer, runner.Diagnose = s.out, s.printLogs
	return runner.Run(ctx, all)
}

func (s *story) printLogs(context.Context, steps.Step) {
	if s.node == nil {
		return
	}
	if logs := s.node.Logs(operatorNamespace, operatorName); logs != "" {
		s.out.Note("The last lines of the operator's logs:\n%s", logs)
	}
}

// await is steps.Await.
func (s *story) await(ctx context.Context, what string, check func(context.Context) (done bool, seen string, err error)) error {
	return steps.Await(ctx, s.out, what, check)
}
