// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Command chaos plants bugs into the controller, one at a time, and reports which test catches each.
//
//	go run ./hack/chaos -plants=all
//	go run ./hack/chaos -plants=uid-check-dropped -explore=5m
//
// A plant is a replacement in one file for one build, made with go's -overlay: the sources stay as they are. For each, its tests
// run first, and then the explorer of cmd/fairlead-controller/chaos where that must find it too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/hack/internal/process"
	"fairlead.dev/fairlead/hack/internal/root"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "chaos: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string, out, errOut io.Writer) error {
	ctx, stop := process.UntilSignal(context.Background())
	defer stop()
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(errOut)
	names := flags.String("plants", "all", "which bugs to plant, separated by commas")
	explore := flags.Duration("explore", 0, "how long the explorer may look for a planted bug; 0: not at all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*names)
	if err != nil {
		return err
	}
	dir, err := root.Find()
	if err != nil {
		return err
	}
	h := &hunt{root: dir, explore: *explore, errOut: errOut}
	return h.run(ctx, chosen, out)
}

// choose returns the plants of these names.
func choose(names string) ([]plant, error) {
	if names == "all" {
		return plants(), nil
	}
	var chosen []plant
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(plants(), func(p plant) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no planted bug %q", name)
		}
		chosen = append(chosen, plants()[i])
	}
	return chosen, nil
}

// result is what became of one plant.
type result struct {
	plant
	// test is the first test that failed, and explorer what the explorer says; "" if they did not notice.
	test, explorer string
	took           time.Duration
}

func (r result) survives(explored bool) bool {
	return r.test == "" || explored && r.plant.explorer && r.explorer == ""
}

// run plants one bug after the other and prints a table.
func (h *hunt) run(ctx context.Context, chosen []plant, out io.Writer) error {
	var survivors []string
	fmt.Fprintf(out, "%-26s %-64s %-34s %6s\n", "BUG", "CAUGHT BY", "EXPLORER", "TIME")
	for _, p := range chosen {
		r, err := h.catch(ctx, p)
		if err != nil {
			return fmt.Errorf("plant %s: %w", p.name, err)
		}
		fmt.Fprintf(out, "%-26s %-64s %-34s %5.0fs\n", p.name, orNothing(r.test), orNothing(r.explorer), r.took.Seconds())
		if r.survives(h.explore > 0) {
			survivors = append(survivors, p.name)
		}
	}
	if len(survivors) > 0 {
		return fmt.Errorf("not caught: %s", strings.Join(survivors, ", "))
	}
	_, err := fmt.Fprintf(out, "All %d planted bugs are caught.\n", len(chosen))
	return err
}

func orNothing(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
