// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster starts the embedded control plane for the programs in hack. Tests use pkg/testing/controlplane.
package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/hack/internal/process"
)

// Cluster is fairlead-cluster and where its API server is.
type Cluster struct {
	*process.Process
	// Kubeconfig is the administrator's; the file appears when the cluster is ready.
	Kubeconfig string
}

// Start starts the executable with a data directory, and a log in the directory logs. died is called with the reason when
// it ends before Stop.
func Start(binary, dataDir, kubeconfig, logs string, died func(error), flags ...string) (*Cluster, error) {
	cmd := exec.Command(binary, append([]string{"up", "--stop-on-stdin-eof", "--data-dir=" + dataDir, "--kubeconfig=" + kubeconfig}, flags...)...)
	// It ends when this process does, also where the kernel does not see to that.
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p, err := process.Start(cmd, filepath.Join(logs, "fairlead-cluster.log"), died)
	if err != nil {
		return nil, err
	}
	return &Cluster{Process: p, Kubeconfig: kubeconfig}, nil
}

// Config waits until the cluster is ready, and returns an administrator's configuration without a rate limit.
func (c *Cluster) Config(ctx context.Context, userAgent string) (*rest.Config, error) {
	const period = 50 * time.Millisecond
	err := wait.PollUntilContextCancel(ctx, period, true, func(context.Context) (bool, error) {
		_, err := os.Stat(c.Kubeconfig)
		if os.IsNotExist(err) {
			return false, c.Err()
		}
		return err == nil, err
	})
	if err != nil {
		return nil, fmt.Errorf("wait for the control plane: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // The API server knows its load.
	config.UserAgent = userAgent
	return config, nil
}
