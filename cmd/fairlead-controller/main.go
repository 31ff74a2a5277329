// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fairlead-controller runs the controller of Applications.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/component-base/cli"

	"fairlead.dev/fairlead/cmd/fairlead-controller/app"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	command := app.NewCommand()
	command.SetContext(ctx)
	return cli.Run(command)
}

// untilSignal returns a context that ends with the first SIGTERM or SIGINT. The second one exits at once, for users
// who do not want to wait for the running syncs.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-signals
		cancel()
		<-signals
		os.Exit(1)
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}
