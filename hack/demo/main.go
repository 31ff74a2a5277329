// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo shows Fairlead at work, and fails unless it saw everything that it shows.
//
// Read demo.go first: it has the steps. setup.go, story.go and stop.go carry them out, and tour.go those of the tour;
// tree.go and changes.go are what people see; the rest are the tools for that.
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
)

func main() {
	os.Exit(run())
}

func run() int {
	options, err := parseOptions(os.Args[1:], os.Getenv, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: %v\n", err)
		return 2
	}
	terminal := newTerminal(os.Stdout, os.Getenv)
	options.once = options.once || !terminal.live
	if err := runIn(options, newScreen(terminal)); err != nil {
		return 1
	}
	return 0
}

// runIn runs the demo in a directory of its own and reports how it ended.
func runIn(options options, screen *screen) error {
	ctx, stop := process.UntilSignal(context.Background())
	defer stop()
	files, err := newWorkspace()
	if err != nil {
		screen.tellError(err)
		return err
	}
	own, err := os.Create(files.log("demo"))
	if err != nil {
		screen.tellError(err)
		return errors.Join(err, files.close(false))
	}
	defer own.Close()
	logTo(own)

	d := &demo{options: options, screen: screen, files: files}
	if options.current {
		if d.cluster, err = currentOf(screen); err != nil {
			screen.tellError(err)
			return errors.Join(err, files.close(false))
		}
	}
	err = d.run(ctx)
	interrupted := errors.Is(err, process.ErrInterrupted)
	if failed := (*failure)(nil); errors.As(err, &failed) && !interrupted {
		screen.print(failed.report(screen.style)...)
	}
	keepLogs := err != nil && !interrupted
	if keepLogs {
		screen.printf("  logs:      %s", files.logs())
	}
	return errors.Join(err, files.close(keepLogs))
}

// logTo sends what client-go logs, for example about a watch that was lost, where it does not disturb the picture.
func logTo(output io.Writer) {
	klog.SetLoggerWithOptions(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(output))), klog.ContextualLogger(true))
}
