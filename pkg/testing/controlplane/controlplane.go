// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// startTimeout allows for a machine that runs many other tests at the same time. An idle one needs four seconds.
const startTimeout = 3 * time.Minute

// ControlPlane is a running cluster. Its methods are safe for concurrent use.
type ControlPlane struct {
	config     *rest.Config
	kubeconfig string
	process    *process
	audit      string // path of the audit log, or empty
	installed  installed
}

// Start starts a cluster and returns when it is ready. The caller must Stop it. The cluster does not outlive this
// process, however the process ends. ctx bounds only the start.
func Start(ctx context.Context, opts ...Option) (*ControlPlane, error) {
	o := newOptions(opts)
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready within %s", startTimeout))
	defer cancel()
	process, err := startProcess(ctx, &o)
	if err != nil {
		return nil, fmt.Errorf("start the embedded control plane: %w", err)
	}
	config, err := loadConfig(process.info.Kubeconfig)
	if err != nil {
		return nil, errors.Join(err, process.stop())
	}
	return &ControlPlane{config: config, kubeconfig: process.info.Kubeconfig, process: process, audit: process.info.AuditLog}, nil
}

// ForTest starts a cluster for one test and stops it when the test ends.
func ForTest(tb testing.TB, opts ...Option) *ControlPlane {
	tb.Helper()
	cp, err := Start(tb.Context(), opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			tb.Error(err)
		}
	})
	return cp
}

// loadConfig reads the kubeconfig of the started cluster, and no other file.
func loadConfig(path string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	// A negative value disables the client-side rate limit, which would slow tests down and distort what they measure.
	config.QPS = -1
	return config, nil
}

// Stop ends the cluster and removes its data. It returns an error if a component died during the tests although none
// of them caused that.
func (cp *ControlPlane) Stop() error {
	// Idle connections of client-go's shared transport have goroutines, which a leak check would find.
	if transport, err := rest.TransportFor(cp.config); err == nil {
		utilnet.CloseIdleConnectionsFor(transport)
	}
	return cp.process.stop()
}

// Config returns a copy of an administrator's client configuration, without client-side rate limits.
func (cp *ControlPlane) Config() *rest.Config { return rest.CopyConfig(cp.config) }

// ConfigFor returns a configuration that impersonates another user. The API server adds system:authenticated to the
// groups.
func (cp *ControlPlane) ConfigFor(user string, groups ...string) *rest.Config {
	config := cp.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// Kubeconfig returns the path of the administrator's kubeconfig, for programs that tests run.
func (cp *ControlPlane) Kubeconfig() string { return cp.kubeconfig }

// URL returns the base URL of a component's server, for example to reach etcd with its own client.
func (cp *ControlPlane) URL(tb testing.TB, component Component) string {
	tb.Helper()
	for _, status := range cp.process.info.Components {
		if status.Name == component {
			return status.URL
		}
	}
	tb.Fatalf("this cluster does not run %s: add it to WithComponents", component)
	return ""
}
