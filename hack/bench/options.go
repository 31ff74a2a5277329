// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/hack/internal/root"
	"fairlead.dev/fairlead/pkg/testing/aggregated"
)

const usage = `Measures the controller against the goals of docs/performance.md, and prints a table. "make bench" builds what it needs
and runs it; ARGS are these flags. It starts control planes of its own (etcd and kube-apiserver alone), one after the
other, and removes them.

Leave the machine alone meanwhile: figures of a busy one mean little, although ratios are taken within one run.

Flags:
`

// options are what the user asked for.
type options struct {
	// root is the directory that has bin and artifacts.
	root string
	// applications is how many there are.
	applications int
	repeats      int
	goals        []string
	// workers is how many Applications are synced at once, and how many requests the raw client has under way.
	workers int
	// json is the file for the report, or empty.
	json string
	// controllerArgs are more flags for the controller.
	controllerArgs []string
	durations
}

// durations bound what lasts as long, and takes as much, as one likes.
type durations struct {
	// outage is how long the API server is away.
	outage time.Duration
	// step is how long each rate of churn and of admission requests is held.
	step time.Duration
	// soak is how long G11 lasts.
	soak time.Duration
	// edits is how often drift is made and repaired.
	edits int
	// expensive is how many Applications the noisy tenant has, and variables how many variables each has; 0: it is as expensive as
	// can be.
	expensive, variables int
}

// goalNames are the goals that this measures. G8 needs pods: make e2e has it.
var goalNames = []string{"G1", "G2", "G3", "G4", "G5", "G6", "G7", "G9", "G10", "G11", "G12", "G13"}

// defaultGoals are those that take minutes. G11 takes an hour: make soak has it.
var defaultGoals = slices.DeleteFunc(slices.Clone(goalNames), func(goal string) bool { return goal == "G11" })

// parseOptions reads the flags. flag.ErrHelp means that the usage was asked for and printed.
func parseOptions(args []string, output io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {
		fmt.Fprint(output, usage)
		flags.PrintDefaults()
	}
	var goals, controllerArgs string
	flags.StringVar(&o.root, "root", "", "the directory with bin and artifacts; default: the current one, or the nearest above it that has them")
	flags.IntVar(&o.applications, "n", 1000, "how many Applications")
	flags.IntVar(&o.repeats, "repeats", 5, "how often G1 and G4 are repeated, G4 at least 3 times, and a fifth of how often G13 reads each list; G3, G7 and G12 are at most 3 times")
	flags.StringVar(&goals, "goals", strings.Join(defaultGoals, ","), "what to measure")
	flags.DurationVar(&o.soak, "soak", time.Hour, "how long G11 lasts")
	flags.IntVar(&o.workers, "workers", 16, "workers of the controller, and requests that the raw client has under way")
	flags.StringVar(&o.json, "json", "", "a file to write the report to, as JSON")
	flags.StringVar(&controllerArgs, "controller-args", "", "more flags for the controller, separated by spaces")
	flags.DurationVar(&o.outage, "outage", 0, "how long the API server is away in G9; default: 60s from 10,000 Applications on, 10s below")
	flags.DurationVar(&o.step, "step", 20*time.Second, "how long each rate is held in G7, G10 and G12")
	flags.IntVar(&o.edits, "edits", 200, "how many children G6 changes")
	flags.IntVar(&o.expensive, "expensive", 100, "how many of the most expensive Applications the noisy tenant of G12 has")
	flags.IntVar(&o.variables, "variables", 0, "how many environment variables each Application of that tenant has instead of what is most expensive; with 38 it is just not large")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; see -help", flags.Arg(0))
	}
	o.goals = strings.Split(goals, ",")
	o.controllerArgs = strings.Fields(controllerArgs)
	if o.outage == 0 {
		o.outage = 10 * time.Second
		if o.applications >= 10000 {
			o.outage = time.Minute
		}
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.root == "" {
		var err error
		if o.root, err = root.Find(); err != nil {
			return nil, err
		}
	}
	return o, o.checkBinaries()
}

func (o *options) validate() error {
	var errs []error
	for _, number := range []struct {
		flag               string
		value, least, most int
	}{
		{"-n", o.applications, 10, 100_000},
		{"-repeats", o.repeats, 1, 1000},
		{"-expensive", o.expensive, 1, 1000},
		{"-variables", o.variables, 0, 128},
		{"-workers", o.workers, 1, 1000},
		{"-edits", o.edits, 1, 100_000},
	} {
		if number.value < number.least || number.value > number.most {
			errs = append(errs, fmt.Errorf("%s is %d, but must be between %d and %d", number.flag, number.value, number.least, number.most))
		}
	}
	if o.soak < 5*time.Second {
		errs = append(errs, fmt.Errorf("-soak is %s, but must be at least 5s", o.soak))
	}
	if o.step < time.Second {
		errs = append(errs, fmt.Errorf("-step is %s, but must be at least 1s", o.step))
	}
	for _, goal := range o.goals {
		if !slices.Contains(goalNames, goal) {
			errs = append(errs, fmt.Errorf("-goals has %q, but there are %s", goal, strings.Join(goalNames, ", ")))
		}
	}
	return errors.Join(errs...)
}

// wants reports whether the user asked for one of the goals.
func (o *options) wants(goals ...string) bool {
	return slices.ContainsFunc(goals, func(goal string) bool { return slices.Contains(o.goals, goal) })
}

// controller is the executable that is measured.
func (o *options) controller() string { return filepath.Join(o.root, "bin", "fairlead-controller") }

// server is the executable of the aggregated API server.
func (o *options) server() string { return filepath.Join(o.root, "bin", aggregated.Name) }

func (o *options) crds() string { return filepath.Join(o.root, "artifacts", "crds") }

func (o *options) checkBinaries() error {
	needed := []string{o.controller()}
	if o.wants("G13") {
		needed = append(needed, o.server())
	}
	for _, binary := range needed {
		if _, err := os.Stat(binary); err != nil {
			return fmt.Errorf("%w: build it with `make build apiserver`, or run `make bench`", err)
		}
	}
	return nil
}
