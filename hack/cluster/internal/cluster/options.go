// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// The components, in the order in which they start. They stop in the opposite order.
const (
	Etcd                  = "etcd"
	KubeAPIServer         = "kube-apiserver"
	KubeControllerManager = "kube-controller-manager"
	KubeScheduler         = "kube-scheduler"
	Kwok                  = "kwok"
)

func allComponents() []string {
	return []string{Etcd, KubeAPIServer, KubeControllerManager, KubeScheduler, Kwok}
}

// maxSocketPath is the longest path of a unix socket that every supported kernel takes.
const maxSocketPath = 103

// Options are the flags of `up`.
type Options struct {
	DataDir        string
	Components     []string
	Nodes          int
	Kubeconfig     string
	AuditLog       string
	ComponentFlags []string // each component=--flag=value
	KwokBinary     string
	StopOnStdinEOF bool
	RemoveDataDir  bool
}

// parseOptions reads the command line. pflag.ErrHelp means that the usage was asked for and printed.
func parseOptions(args []string, usage io.Writer) (Options, error) {
	var o Options
	flags := pflag.NewFlagSet("fairlead-cluster up", pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {
		_, _ = fmt.Fprintf(usage, "Start a cluster; Ctrl-C stops it.\n\nFlags:\n%s", flags.FlagUsagesWrapped(120))
	}
	flags.StringVar(&o.DataDir, "data-dir", "",
		"Directory for etcd's data, certificates, logs, the control socket and cluster.json. It is kept, and a later start continues with its data. "+
			"Default: a temporary directory that is removed at the end, unless a component failed.")
	flags.BoolVar(&o.RemoveDataDir, "remove-data-dir", false, "Remove the given data directory at the end too, unless a component failed. It must be empty at the start.")
	flags.StringSliceVar(&o.Components, "components", allComponents(),
		"What to run. etcd and kube-apiserver are enough for the API alone; objects are then stored, and nothing acts on them.")
	flags.IntVar(&o.Nodes, "nodes", 3, "Number of simulated nodes. Needs kwok.")
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "",
		"File for the administrator's kubeconfig, written when everything is ready and removed at the end. Default: admin.kubeconfig in the data directory.")
	flags.StringVar(&o.AuditLog, "audit-log", "",
		"File for an audit log of every request at level Metadata, one JSON object a line; - means audit.log in the data directory. Default: none.")
	flags.StringArrayVar(&o.ComponentFlags, "component-flag", nil,
		"A further flag for one component, for example kube-apiserver=--event-ttl=5m. It wins over the flag that is set by default. Repeatable.")
	flags.StringVar(&o.KwokBinary, "kwok", "", "The kwok executable. Default: kwok in the directory of this executable.")
	flags.BoolVar(&o.StopOnStdinEOF, "stop-on-stdin-eof", false,
		"Stop when standard input ends. A parent that holds the other end of a pipe takes the cluster with it, however it dies.")
	if err := flags.Parse(args); err != nil {
		return Options{}, err
	}
	if flags.NArg() > 0 {
		return Options{}, fmt.Errorf("unexpected argument %q: up takes flags only", flags.Arg(0))
	}
	if !o.runs(Kwok) && !flags.Changed("nodes") {
		o.Nodes = 0
	}
	return o, o.validate()
}

func (o *Options) validate() error {
	for _, name := range o.Components {
		if !slices.Contains(allComponents(), name) {
			return fmt.Errorf("--components: %q is unknown; choose from %s", name, strings.Join(allComponents(), ","))
		}
	}
	if !o.runs(Etcd) || !o.runs(KubeAPIServer) {
		return errors.New("--components: etcd and kube-apiserver are always needed")
	}
	if o.Nodes < 0 || o.Nodes > maxNodes {
		return fmt.Errorf("--nodes: %d is not between 0 and %d", o.Nodes, maxNodes)
	}
	if o.Nodes > 0 && !o.runs(Kwok) {
		return errors.New("--nodes: nodes are simulated by kwok; add kwok to --components")
	}
	for _, assignment := range o.ComponentFlags {
		name, flag, found := strings.Cut(assignment, "=")
		if !found || !o.runs(name) || !strings.HasPrefix(flag, "--") {
			return fmt.Errorf("--component-flag: %q is not COMPONENT=--FLAG=VALUE with one of %s", assignment, strings.Join(o.Components, ","))
		}
	}
	return nil
}

func (o *Options) runs(component string) bool { return slices.Contains(o.Components, component) }

// complete fills in the paths that depend on the data directory.
func (o *Options) complete(dataDir string) error {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	o.DataDir = dataDir
	if socket := o.controlSocket(); len(socket) > maxSocketPath {
		return fmt.Errorf("--data-dir: the path of the control socket %s has %d bytes and the system allows %d; choose a shorter directory",
			socket, len(socket), maxSocketPath)
	}
	if o.Kubeconfig == "" {
		o.Kubeconfig = filepath.Join(dataDir, "admin.kubeconfig")
	}
	if o.AuditLog == "-" {
		o.AuditLog = filepath.Join(dataDir, "audit.log")
	}
	for _, path := range []*string{&o.Kubeconfig, &o.AuditLog} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) controlSocket() string { return filepath.Join(o.DataDir, "control.sock") }

// flagsFor returns the extra flags of one component.
func (o *Options) flagsFor(component string) []string {
	var flags []string
	for _, assignment := range o.ComponentFlags {
		if name, flag, _ := strings.Cut(assignment, "="); name == component {
			flags = append(flags, flag)
		}
	}
	return flags
}
