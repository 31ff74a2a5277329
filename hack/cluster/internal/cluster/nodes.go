// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	maxNodes = 1000
	// nodeIP is what every simulated node says its address is. Nothing listens there.
	nodeIP = "10.255.0.1"
	zones  = 3
)

// createNodes makes the Node objects that kwok then brings to life. Nodes of an earlier run in the same data directory
// stay as they are.
func (c *cluster) createNodes(ctx context.Context) error {
	if c.options.Nodes == 0 {
		return nil
	}
	client, err := c.clientset()
	if err != nil {
		return err
	}
	for i := range c.options.Nodes {
		node := newNode(i)
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create node %s: %w", node.Name, err)
		}
	}
	return nil
}

// newNode is big enough that only a pod that asks for something absurd does not fit.
func newNode(index int) *corev1.Node {
	name := fmt.Sprintf("node-%d", index+1)
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("1000"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				corev1.LabelHostname:       name,
				corev1.LabelOSStable:       "linux",
				corev1.LabelArchStable:     "amd64",
				corev1.LabelTopologyRegion: "simulated",
				corev1.LabelTopologyZone:   fmt.Sprintf("zone-%d", index%zones+1),
			},
		},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeHostName, Address: name},
				{Type: corev1.NodeInternalIP, Address: nodeIP},
			},
			NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: "kwok"},
		},
	}
}

// waitUsable returns when a pod could be created, scheduled and run: each of these is done by some component after it
// has declared itself ready.
func (c *cluster) waitUsable(ctx context.Context) error {
	client, err := c.clientset()
	if err != nil {
		return err
	}
	began := time.Now()
	if c.options.runs(KubeControllerManager) {
		if err := waitDefaultServiceAccount(ctx, client); err != nil {
			return err
		}
	}
	if c.options.Nodes > 0 {
		if err := c.waitNodes(ctx, client); err != nil {
			return err
		}
		c.progress.step(began, "%d simulated nodes ready", c.options.Nodes)
	}
	return nil
}

func waitDefaultServiceAccount(ctx context.Context, client kubernetes.Interface) error {
	err := poll(ctx, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("wait for the default service account, which %s creates: %w", KubeControllerManager, err)
	}
	return nil
}

func (c *cluster) waitNodes(ctx context.Context, client kubernetes.Interface) error {
	err := poll(ctx, func(ctx context.Context) (bool, error) {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		usable := 0
		for i := range nodes.Items {
			if c.schedulable(&nodes.Items[i]) {
				usable++
			}
		}
		return usable >= c.options.Nodes, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %d simulated nodes to become ready: %w", c.options.Nodes, err)
	}
	return nil
}

// schedulable is a Ready node without the taint that admission puts on every new one. Only the controller manager takes
// that away.
func (c *cluster) schedulable(node *corev1.Node) bool {
	if c.options.runs(KubeControllerManager) && len(node.Spec.Taints) > 0 {
		return false
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func poll(ctx context.Context, condition wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, probePeriod, startTimeout, true, condition)
}
