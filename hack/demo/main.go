// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo shows Fairlead at work, and fails unless it saw everything that it shows.
//
// Read demo.go first: it has the steps of the demo, and tour.go those of the tour. start.go, examples.go and
// tour_gateway.go have their bodies; applications.go is what people see.
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
	os.Exit(run())
}

func run() int {
	o, err := parseOptions(os.Args[1:], os.Getenv, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		return 2
	}
	out := steps.NewPrinter(os.Stdout, os.Getenv)
	o.once = o.once || !out.IsTerminal()
	if err := runIn(o, out); err != nil {
		return 1
	}
	return 0
}

// runIn runs the demo in a directory of its own. It has printed the error that it returns.
func runIn(o options, out *steps.Printer) error {
	ctx, stop := process.UntilSignal(context.Background())
	defer stop()
	files, err := newWorkspace()
	if err != nil {
		out.Bad("%v", err)
		return err
	}
	own, err := os.Create(files.log("demo"))
	if err != nil {
		out.Bad("%v", err)
		return errors.Join(err, files.close(false))
	}
	defer own.Close()
	logTo(own)

	d := &demo{options: o, out: out, files: files}
	if o.current {
		if d.config, err = currentOf(out); err != nil {
			out.Bad("%v", err)
			return errors.Join(err, files.close(false))
		}
	}
	err = d.run(ctx)
	keepLogs := err != nil && !errors.Is(err, process.ErrInterrupted)
	if keepLogs {
		out.Printf("  logs:     %s", files.logs())
	}
	return errors.Join(err, files.close(keepLogs))
}

// logTo sends what client-go logs, for example about a watch that was lost, to a file: it would disturb the output.
func logTo(output io.Writer) {
	klog.SetLoggerWithOptions(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(output))), klog.ContextualLogger(true))
}
