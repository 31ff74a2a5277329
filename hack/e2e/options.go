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
)

type options struct {
	root string
	dir  string
	stay bool
	keep bool
	// dist is the directory of a release to install from too, or "".
	dist string
	// beside are the neighbours to try on the node instead of the other steps.
	beside []string
	// stage is which part of the test this process carries out, in a sandbox. None: it starts those that do.
	stage string
}

// The stages. The first one has the machine's network, for modules that are not in the cache; the second one has its own.
const (
	stageImages = "images"
	stageStory  = "story"
)

func parseOptions(args []string, errput io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("e2e", flag.ContinueOnError)
	flags.SetOutput(errput)
	flags.StringVar(&o.root, "root", ".", "The `directory` of the repository.")
	flags.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "fairlead-e2e"), "The `directory` for everything that the test writes. It is emptied at the beginning, and removed at the end unless the test fails. Not on overlayfs.")
	flags.BoolVar(&o.stay, "stay", false, "Stop after the Application serves, and keep everything running until Ctrl-C: a real node to play with.")
	flags.BoolVar(&o.keep, "keep", false, "Keep the logs although the test passed.")
	flags.StringVar(&o.dist, "dist", "", "The `directory` of a release that make release wrote: install from it too.")
	beside := flags.String("beside", "", "The `programs` to try the operator beside, with commas between them: traefik, metrics-server. make neighbours compiles them.")
	flags.StringVar(&o.stage, "stage", "", "For internal use.")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: there are flags only", flags.Arg(0))
	}
	if !slices.Contains([]string{"", stageImages, stageStory}, o.stage) {
		return o, fmt.Errorf("-stage: %q is not for you", o.stage)
	}
	if *beside != "" {
		o.beside = strings.Split(*beside, ",")
	}
	for _, name := range o.beside {
		if !slices.Contains([]string{traefikName, metricsServerName}, name) {
			return o, fmt.Errorf("-beside: %q is unknown; there are: %s, %s", name, traefikName, metricsServerName)
		}
	}
	var err, errDir error
	o.root, err = filepath.Abs(o.root)
	o.dir, errDir = filepath.Abs(o.dir)
	if _, errStat := os.Stat(filepath.Join(o.root, "hack", "e2e")); errStat != nil {
		err = fmt.Errorf("-root: %s is not the repository", o.root)
	}
	if o.dist != "" {
		var errDist error
		o.dist, errDist = filepath.Abs(o.dist)
		err = errors.Join(err, errDist)
		if _, errStat := os.Stat(filepath.Join(o.dist, "install.yaml")); errStat != nil {
			err = errors.Join(err, fmt.Errorf("-dist: %s is not a release: make release writes one", o.dist))
		}
	}
	return o, errors.Join(err, errDir)
}

// args are the flags that make another process continue with a stage.
func (o options) args(stage string) []string {
	return []string{"-root=" + o.root, "-dir=" + o.dir, "-dist=" + o.dist, "-beside=" + strings.Join(o.beside, ","), fmt.Sprintf("-stay=%t", o.stay), "-stage=" + stage}
}

// Where things are.
func (o options) logs() string           { return filepath.Join(o.dir, "logs") }
func (o options) images() string         { return filepath.Join(o.dir, "images") }
func (o options) node() string           { return filepath.Join(o.dir, "node") }
func (o options) cluster() string        { return filepath.Join(o.dir, "cluster") }
func (o options) kubeconfig() string     { return filepath.Join(o.dir, "admin.kubeconfig") }
func (o options) auditLog() string       { return filepath.Join(o.logs(), "audit.log") }
func (o options) bin(name string) string { return filepath.Join(o.root, "bin", name) }
