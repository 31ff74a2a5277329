// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command e2e deploys the operator to a real node, as a user would, and tries there what a simulated node cannot show:
// that pods start under Pod Security, that the API server reaches the webhooks through their Service, that a rollout
// loses no request, that the second replica takes over.
//
// Read story.go first: it has the steps. The step_*.go carry them out; internal/ has what they stand on: a sandbox of
// namespaces, the node in it, and the images.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
)

func main() {
	os.Exit(run())
}

func run() int {
	o, err := parseOptions(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "e2e: %v\n", err)
		return 2
	}
	// What client-go logs, for example about a watch that was lost, would disturb the output; the steps print what matters.
	klog.SetLogger(klog.Logger{})

	ctx, stop := process.UntilSignal(context.Background())
	defer stop()
	out := steps.NewPrinter(os.Stdout, os.Getenv)
	s := &story{options: o, out: out}
	switch o.stage {
	case stageImages:
		err = s.build(ctx)
	case stageStory:
		err = s.test(ctx)
	default:
		err = runAll(ctx, o, out)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errPrinted), errors.As(err, new(*steps.StepError)):
		return 1
	case ctx.Err() != nil:
		out.Note("Interrupted.")
		return 130
	default:
		out.Bad("%v", err)
		return 1
	}
}
