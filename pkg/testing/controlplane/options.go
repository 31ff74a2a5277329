// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"strconv"
	"strings"
)

// Component is one process of the cluster.
type Component string

// The components, in the order in which they start.
const (
	Etcd                  Component = "etcd"
	KubeAPIServer         Component = "kube-apiserver"
	KubeControllerManager Component = "kube-controller-manager"
	KubeScheduler         Component = "kube-scheduler"
	Kwok                  Component = "kwok"
)

// Option configures Start. The default is every component, three simulated nodes and no audit log.
type Option func(*options)

type options struct {
	components []Component // nil: all
	nodes      int         // negative: the default of fairlead-cluster
	auditLog   bool
	flags      []string
}

func newOptions(opts []Option) options {
	o := options{nodes: -1}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithComponents runs only these components. APIOnly is the usual choice.
func WithComponents(components ...Component) Option {
	return func(o *options) { o.components = components }
}

// APIOnly runs only etcd and the API server, which is lighter and starts a second faster. No controller acts on
// objects: a Deployment gets no pods, nothing is garbage-collected, and a deleted namespace stays Terminating.
func APIOnly() Option { return WithComponents(Etcd, KubeAPIServer) }

// WithNodes sets the number of simulated nodes.
func WithNodes(count int) Option {
	return func(o *options) { o.nodes = count }
}

// WithAuditLog records every request, for AuditEvents.
func WithAuditLog() Option {
	return func(o *options) { o.auditLog = true }
}

// WithFlag adds a command-line flag to one component, for example WithFlag(KubeAPIServer, "--event-ttl=5m").
func WithFlag(component Component, flag string) Option {
	return func(o *options) { o.flags = append(o.flags, string(component)+"="+flag) }
}

// arguments returns the command line of `fairlead-cluster up`, without paths.
func (o *options) arguments() []string {
	var args []string
	if o.components != nil {
		names := make([]string, len(o.components))
		for i, component := range o.components {
			names[i] = string(component)
		}
		args = append(args, "--components="+strings.Join(names, ","))
	}
	if o.nodes >= 0 {
		args = append(args, "--nodes="+strconv.Itoa(o.nodes))
	}
	if o.auditLog {
		args = append(args, "--audit-log=-")
	}
	for _, flag := range o.flags {
		args = append(args, "--component-flag="+flag)
	}
	return args
}
