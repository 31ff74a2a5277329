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
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"

	"fairlead.dev/fairlead/hack/e2e/internal/sandbox"
)

func main() {
	if code, taken := sandbox.Enter(os.Args); taken {
		os.Exit(code)
	}
	os.Exit(run())
}

func run() int {
	o, err := parseOptions(os.Args[1:], os.Stderr)
	if errors.Is(err, errHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "e2e: %v\n", err)
		return 2
	}
	// What client-go logs, for example about a watch that was lost, would disturb the picture; the steps tell what matters.
	klog.SetLogger(klog.Logger{})

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	out := newScreen(os.Stdout, os.Getenv)
	switch {
	case o.stage != "":
		err = runStage(ctx, o, out)
	default:
		err = runAll(ctx, o, out)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errTold):
		return 1
	case ctx.Err() != nil:
		out.note("Interrupted.")
		return 130
	default:
		out.fail("%v", err)
		return 1
	}
}
