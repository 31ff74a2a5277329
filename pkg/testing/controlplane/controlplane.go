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

// startTimeout covers a machine that runs many other tests at the same time; an idle one needs four seconds.
const startTimeout = 3 * time.Minute

// ControlPlane is a running cluster. Its methods may be called concurrently.
type ControlPlane struct {
	config     *rest.Config
	kubeconfig string
	process    *process
	audit      string // path of the audit log, or empty
}

// Start starts a cluster and returns when it is ready. The caller must Stop it. The cluster does not outlive this
// process, however the process ends. ctx bounds the start alone.
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

// loadConfig reads the kubeconfig of the started cluster. It looks nowhere else.
func loadConfig(path string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, err
	}
	// A negative value switches the client-side limiter off: it would only slow tests down and blur what they measure.
	config.QPS = -1
	return config, nil
}

// Stop ends the cluster and removes its data. It reports a component that died during the tests although none of them
// asked for it.
func (cp *ControlPlane) Stop() error {
	// Idle connections of client-go's shared transport keep goroutines, which a leak check would find.
	if transport, err := rest.TransportFor(cp.config); err == nil {
		utilnet.CloseIdleConnectionsFor(transport)
	}
	return cp.process.stop()
}

// Config returns a fresh copy of an administrator's client configuration, without client-side rate limits.
func (cp *ControlPlane) Config() *rest.Config { return rest.CopyConfig(cp.config) }

// ConfigFor returns a configuration that acts as somebody else, by impersonation. The API server adds
// system:authenticated to the groups.
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
	tb.Fatalf("%s does not run in this cluster: add it to WithComponents", component)
	return ""
}
