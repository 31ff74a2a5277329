// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-fairlead is the kubectl plugin for Applications: kubectl runs it as `kubectl fairlead`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // The kubeconfig may name any of them.

	"fairlead.dev/fairlead/cmd/kubectl-fairlead/internal/command"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	return command.Run(ctx, streams, os.Args[1:])
}
