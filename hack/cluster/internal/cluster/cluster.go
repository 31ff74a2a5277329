// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster starts, watches and stops the components of one local Kubernetes control plane.
package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/hack/cluster/internal/pki"
	"fairlead.dev/fairlead/hack/cluster/internal/process"
)

// portAttempts bounds how often a start is repeated with other ports because another process took one between our
// finding it free and the component's bind.
const portAttempts = 5

// errPortTaken marks a start that failed for that reason.
var errPortTaken = errors.New("a port was taken by another process")

// cluster is the running control plane.
type cluster struct {
	options     *Options
	executable  string
	credentials *credentials
	progress    *progress
	failed      chan error // why a component ended that should not

	components []*component // in starting order
	kubeconfig []byte
}

func newCluster(options *Options, executable string, progress *progress) (*cluster, error) {
	began := time.Now()
	if err := os.MkdirAll(filepath.Join(options.DataDir, "logs"), 0o700); err != nil {
		return nil, err
	}
	credentials, err := newCredentials(options.DataDir)
	if err != nil {
		return nil, err
	}
	progress.step(began, "certificates and keys")
	return &cluster{
		options:     options,
		executable:  executable,
		credentials: credentials,
		progress:    progress,
		failed:      make(chan error, len(allComponents())),
	}, nil
}

// start brings everything up, with new ports if another process is faster at taking one.
func (c *cluster) start(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := c.startOnce(ctx)
		if !errors.Is(err, errPortTaken) || attempt == portAttempts {
			return err
		}
		c.progress.say("%v\nStarting again with other ports.", err)
		c.stop()
	}
}

func (c *cluster) startOnce(ctx context.Context) error {
	if err := c.plan(); err != nil {
		return err
	}
	// etcd and the API server one after the other, since the latter gives up without the former.
	for _, name := range []string{Etcd, KubeAPIServer} {
		if err := c.startComponent(ctx, c.component(name)); err != nil {
			return err
		}
	}
	// Then everything that is only a client of the API server, all at once.
	tasks := []func(context.Context) error{c.createNodes}
	for _, client := range c.components[2:] {
		tasks = append(tasks, func(ctx context.Context) error { return c.startComponent(ctx, client) })
	}
	if err := inParallel(ctx, tasks); err != nil {
		return err
	}
	return c.waitUsable(ctx)
}

// plan chooses ports and command lines. The components of an earlier attempt are forgotten.
func (c *cluster) plan() error {
	p := &planner{options: c.options, credentials: c.credentials, executable: c.executable}
	specs, err := p.plan()
	if err != nil {
		return err
	}
	if c.kubeconfig, err = pki.Kubeconfig(p.serverURL, c.credentials.ca, c.credentials.admin); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: c.credentials.ca.Pool(), MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, // A probe must see the server as it is now, not an old connection.
	}}
	c.components = nil
	for _, s := range specs {
		c.components = append(c.components, newComponent(s, c.options.DataDir, client, c.report))
	}
	return nil
}

func (c *cluster) startComponent(ctx context.Context, component *component) error {
	began := time.Now()
	if err := component.start(ctx); err != nil {
		if component.portTaken() {
			return fmt.Errorf("%w: %w", errPortTaken, err)
		}
		return err
	}
	c.progress.step(began, "%s ready, %s", component.name, component.url)
	return nil
}

// report hands over the error of a component that ended and should not. Only the first few matter.
func (c *cluster) report(err error) {
	select {
	case c.failed <- err:
	default:
	}
}

func (c *cluster) component(name string) *component {
	i := slices.IndexFunc(c.components, func(component *component) bool { return component.name == name })
	if i < 0 {
		return nil
	}
	return c.components[i]
}

// stop ends the clients of the API server together, then the API server, then etcd, each in bounded time.
func (c *cluster) stop() {
	var clients, servers []*component
	for _, component := range c.components {
		if component.name == Etcd || component.name == KubeAPIServer {
			servers = append(servers, component)
		} else {
			clients = append(clients, component)
		}
	}
	var group sync.WaitGroup
	for _, component := range clients {
		group.Go(func() { c.stopComponent(component) })
	}
	group.Wait()
	for _, component := range slices.Backward(servers) {
		c.stopComponent(component)
	}
}

func (c *cluster) stopComponent(component *component) {
	defer component.release() // If it never started, its ports are still reserved.
	if component.process.State() == process.Stopped {
		return
	}
	began := time.Now()
	killed, err := component.stop()
	switch {
	case err != nil:
		c.progress.say("  %s: %v", component.name, err)
	case killed:
		c.progress.step(began, "%s killed, it took too long to stop", component.name)
	default:
		c.progress.step(began, "%s stopped", component.name)
	}
}

// clientset returns an administrator's client for the chores of starting.
func (c *cluster) clientset() (kubernetes.Interface, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(c.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // The server limits, not the client.
	config.UserAgent = "fairlead-cluster"
	return kubernetes.NewForConfig(config)
}

// inParallel runs the tasks and returns the first error, after which the others are cancelled.
func inParallel(ctx context.Context, tasks []func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for _, task := range tasks {
		group.Go(func() {
			if err := task(ctx); err != nil {
				cancel(err) // Only the first cause is kept.
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
