// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the controller against the goals of docs/performance.md.
//
// Read bench.go first: it has the goals in their order. lab.go is where they are measured, controller.go what is measured; raw.go is
// the client to compare with, requests.go the audit log by which they are judged.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/steps"
)

func main() {
	discardLogs()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// discardLogs drops what client-go says, for example of a watch that ends with its control plane: it is not about what is
// measured.
func discardLogs() {
	klog.SetLoggerWithOptions(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(io.Discard))), klog.ContextualLogger(true))
}

func run(args []string, out, errOut io.Writer) int {
	ctx, stop := process.UntilSignal(context.Background())
	defer stop()
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
	b := &bench{options: o, progress: &progress{steps.NewPrinter(errOut, os.Getenv)}, out: out}
	err = b.run(ctx)
	if err == nil {
		return 0
	}
	if !errors.As(err, new(*steps.StepError)) { // Which has been printed.
		fmt.Fprintf(errOut, "bench: %v\n", err)
	}
	return 1
}
