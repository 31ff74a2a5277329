// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"path/filepath"

	"fairlead.dev/fairlead/hack/internal/root"
)

const usage = `Shows Fairlead at work: starts a Kubernetes control plane with simulated nodes, installs the CustomResourceDefinitions,
runs the controller, applies artifacts/examples, breaks things and shows how they are repaired. "make demo" builds
what it needs and runs it; "make tour" does with -tour.

Environment:
  FAIRLEAD_CLUSTER=current  use the cluster that kubectl uses, instead of starting one; at a terminal the demo asks first
  ONCE=1                    end after the last step, instead of waiting for Ctrl-C; so does output that is no terminal
  NO_COLOR=1                no colors

Flags:
`

// options are what the user asked for.
type options struct {
	// root is the directory that has bin and artifacts.
	root string
	// current uses the current cluster of kubectl. Otherwise the demo starts one. KUBECONFIG alone changes nothing: it is
	// set in the shell of nearly everyone who works with Kubernetes.
	current bool
	// once ends the demo after its last step.
	once bool
	// tour shows what happens to one Application after its first day, instead of the examples.
	tour bool
}

// clusterEnv chooses the cluster, and currentCluster is the only value that it may have.
const (
	clusterEnv     = "FAIRLEAD_CLUSTER"
	currentCluster = "current"
)

// parseOptions reads flags and environment. flag.ErrHelp means that the usage was asked for and printed.
func parseOptions(args []string, getenv func(string) string, output io.Writer) (options, error) {
	chosen := getenv(clusterEnv)
	o := options{
		current: chosen == currentCluster,
		once:    getenv("ONCE") != "" && getenv("ONCE") != "0",
	}
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.Usage = func() {
		fmt.Fprint(output, usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.tour, "tour", false, "show what happens to one Application after its first day, instead of the examples; on a cluster of its own")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if chosen != "" && !o.current {
		return options{}, fmt.Errorf("%s=%q: the only value is %q; unset it to have a cluster started", clusterEnv, chosen, currentCluster)
	}
	if o.tour && o.current {
		return options{}, fmt.Errorf("the tour needs simulated nodes, so it starts a cluster of its own: unset %s", clusterEnv)
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q; see -help", flags.Arg(0))
	}
	var err error
	o.root, err = root.Find()
	return o, err
}

func (o options) binary(name string) string { return filepath.Join(o.root, "bin", name) }
func (o options) artifacts(path ...string) string {
	return filepath.Join(append([]string{o.root, "artifacts"}, path...)...)
}
