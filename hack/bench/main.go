// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the controller against the goals of docs/performance.md.
//
// Read bench.go first: it has the goals in their order. lab.go is where they are measured, controller.go who is; raw.go is
// the client that they are compared with, requests.go the audit log by which they are judged.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// errInterrupted is the end by Ctrl-C.
var errInterrupted = errors.New("interrupted")

func run(args []string, out, errOut io.Writer) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	// What client-go says, for example of a watch that ends with its control plane, is not about what is measured.
	klog.SetLoggerWithOptions(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(io.Discard))), klog.ContextualLogger(true))
	if len(args) == 2 && args[0] == bareCommand {
		if err := bareSync(ctx, args[1]); err != nil {
			fmt.Fprintf(errOut, "%s: %v\n", bareCommand, err)
			return 1
		}
		return 0
	}
	o, err := parseOptions(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(errOut, "bench: %v\n", err)
		return 2
	}
	b := &bench{options: o, progress: &progress{out: errOut, began: time.Now()}, out: out}
	if err := b.run(ctx); err != nil {
		if errors.Is(err, errInterrupted) {
			err = errInterrupted
		}
		fmt.Fprintf(errOut, "bench: %v\n", err)
		return 1
	}
	return 0
}

// untilSignal returns a context that ends with the first signal, because of errInterrupted. The second signal ends the
// process at once, and the kernel its children with it.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
			signal.Stop(signals)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}
