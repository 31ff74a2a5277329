// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command informers runs the labs of the book in this directory, each of which is a package beside its chapter.
//
//	go run ./docs/informers 3      # the lab of chapter 3
//	go run ./docs/informers all
//
// They run on an embedded control plane, which `make cluster` builds, and ignore KUBECONFIG.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"fairlead.dev/fairlead/docs/informers/internal/lab"
	"fairlead.dev/fairlead/pkg/testing/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx)
	stop()
	os.Exit(code)
}

// command does what the arguments say, and returns the exit code.
func command(ctx context.Context) int {
	if part := os.Getenv(childVariable); part != "" {
		return runPart(ctx, part)
	}
	verbose := flag.Bool("v", false, "show on stderr what client-go logs")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "Usage: go run ./docs/informers [-v] all | NUMBER...") }
	flag.Parse()
	if !*verbose {
		quiet()
	}
	if err := run(ctx, flag.Args(), os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "informers: %v\n", err)
		return 1
	}
	return 0
}

func run(ctx context.Context, arguments []string, output io.Writer) (err error) {
	chosen, err := choose(arguments)
	if err != nil {
		return err
	}
	cp, err := controlplane.Start(ctx, controlplane.APIOnly())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cp.Stop()) }()
	var took []string
	for _, c := range chosen {
		fmt.Fprintf(output, "=== %s\n", c.directory)
		start := time.Now()
		for _, run := range c.labs {
			if err := lab.Run(ctx, settingOf(cp), c.number(), run, output); err != nil {
				return fmt.Errorf("lab %s: %w", c.directory, err)
			}
		}
		took = append(took, fmt.Sprintf("%-28s %5.1f s", c.directory, time.Since(start).Seconds()))
	}
	fmt.Fprintln(output, "\n=== Run time")
	for _, line := range took {
		fmt.Fprintln(output, line)
	}
	return nil
}

// choose finds chapters by their numbers.
func choose(arguments []string) ([]chapter, error) {
	all := chapters()
	if len(arguments) == 1 && arguments[0] == "all" {
		return all, nil
	}
	var chosen []chapter
	for _, argument := range arguments {
		number, err := strconv.Atoi(argument)
		if err != nil || number < 1 || number > len(all) {
			return nil, fmt.Errorf("no chapter %q: use all, or numbers from 1 to %d", argument, len(all))
		}
		chosen = append(chosen, all[number-1])
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no chapter given: use all, or numbers from 1 to %d", len(all))
	}
	return chosen, nil
}

// settingOf is where the labs run.
func settingOf(cp *controlplane.ControlPlane) lab.Setting {
	return lab.Setting{Config: cp.Config(), Kubeconfig: cp.Kubeconfig(), Child: child}
}

// childVariable makes this program run one part of a lab, in a separate process.
const childVariable = "FAIRLEAD_LAB_PART"

func child(ctx context.Context, part string) *exec.Cmd {
	command := exec.CommandContext(ctx, os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+part)
	return command
}

// runPart runs a part of a lab and returns the exit code.
func runPart(ctx context.Context, part string) int {
	if err := parts()[part](ctx, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", part, err)
		return 1
	}
	return 0
}

// quiet hides what client-go logs: labs show errors on purpose.
func quiet() {
	klog.SetLoggerWithOptions(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(io.Discard))), klog.ContextualLogger(true))
}
