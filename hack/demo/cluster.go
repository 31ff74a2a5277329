// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/hack/internal/process"
)

// simulatedNodes is how many nodes the demo's own cluster has.
const simulatedNodes = 3

// simulatedRegion is what the label topology.kubernetes.io/region says of a node that fairlead-cluster simulates.
const simulatedRegion = "simulated"

// cluster is where the demo takes place.
type cluster struct {
	config *rest.Config
	// kubeconfig is for the controller and for people. Empty: both find the cluster as kubectl does.
	kubeconfig string
	// own is fairlead-cluster, or nil if the cluster is somebody else's.
	own *process.Process
	// simulated is true if pods only seem to run, and do what their annotation asks for.
	simulated bool
	// provisions is true if a PersistentVolumeClaim gets a volume by itself.
	provisions bool
}

// startCluster starts the embedded control plane and returns when it is ready. When it ends by itself, died is called.
func startCluster(ctx context.Context, binary string, w *workspace, died func(error)) (*cluster, error) {
	own, err := startBinary(binary, w.log("fairlead-cluster"), died,
		"up", "--stop-on-stdin-eof", "--data-dir="+w.cluster(), "--kubeconfig="+w.kubeconfig(), "--nodes="+strconv.Itoa(simulatedNodes),
		// A claim that comes before its volume is looked at again then; the default is 15 seconds.
		"--component-flag=kube-controller-manager=--pvclaimbinder-sync-period=1s")
	if err != nil {
		return nil, err
	}
	c := &cluster{kubeconfig: w.kubeconfig(), own: own}
	if err := waitForFile(ctx, c.kubeconfig); err != nil {
		return c, err
	}
	c.config, err = loadConfig(c.kubeconfig)
	return c, err
}

// startBinary starts a process with an input that ends with this process: then fairlead-cluster stops, also where the
// kernel does not see to that.
func startBinary(binary, log string, died func(error), args ...string) (*process.Process, error) {
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w: build it with `make demo`", err)
	}
	cmd := exec.Command(binary, args...)
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return process.Start(cmd, log, died)
}

// waitForFile waits for the kubeconfig, which appears when everything is ready. There is no API to watch before that.
func waitForFile(ctx context.Context, file string) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// loadConfig reads one kubeconfig. It looks nowhere else.
func loadConfig(path string) (*rest.Config, error) {
	return clientcmd.BuildConfigFromFlags("", path)
}

// kubeconfigFlags tell the controller which cluster it is.
func (c *cluster) kubeconfigFlags() []string {
	if c.kubeconfig == "" {
		return nil
	}
	return []string{"--kubeconfig=" + c.kubeconfig}
}

// inspect finds out what the cluster can do, and returns its version and how many nodes can run pods.
func (c *cluster) inspect(ctx context.Context, client kubernetes.Interface) (version string, nodes int, err error) {
	server, err := client.Discovery().ServerVersion()
	if err != nil {
		return "", 0, fmt.Errorf("cannot reach the API server at %s: %w", c.config.Host, err)
	}
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", 0, fmt.Errorf("list nodes: %w", err)
	}
	for i := range list.Items {
		node := &list.Items[i]
		if isReady(node) && !node.Spec.Unschedulable {
			nodes++
		}
		c.simulated = c.simulated || node.Labels[corev1.LabelTopologyRegion] == simulatedRegion
	}
	if nodes == 0 {
		return "", 0, fmt.Errorf("the cluster at %s has no node that could run a pod; unset %s to have a cluster with simulated nodes started", c.config.Host, clusterEnv)
	}
	classes, err := client.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", 0, fmt.Errorf("list StorageClasses: %w", err)
	}
	for _, class := range classes.Items {
		c.provisions = c.provisions || class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	}
	return server.GitVersion, nodes, nil
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
