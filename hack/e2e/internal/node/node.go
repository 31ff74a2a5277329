// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package node runs a real node: containerd with runc, the kubelet and kube-proxy, as they run in production. Everything
// runs in the sandbox of this process and ends with it.
package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/fairlead/hack/internal/process"
)

// containerdNamespace is where the kubelet's containers and images are.
const containerdNamespace = "k8s.io"

// Node is a node that runs, or is about to.
type Node struct {
	config Config
	died   func(error)
}

// New describes a node. died is called when one of its processes ends, since none should.
func New(config Config, died func(error)) *Node {
	return &Node{config: config, died: died}
}

// StartRuntime starts containerd and returns when it answers.
func (n *Node) StartRuntime(ctx context.Context) error {
	if err := n.config.writeConfigs(); err != nil {
		return err
	}
	if err := n.start("containerd", exec.Command("containerd", "--config="+filepath.Join(n.config.Dir, "containerd.toml"))); err != nil {
		return err
	}
	return n.waitFor(ctx, "containerd", func(ctx context.Context) error {
		// Until its plugins are there, the socket accepts and the service does not answer.
		_, err := n.ctr(ctx, "version")
		return err
	})
}

// Import loads the images of an archive. Flags are those of ctr images import.
func (n *Node) Import(ctx context.Context, archive string, flags ...string) error {
	_, err := n.ctr(ctx, slices.Concat([]string{"images", "import", "--all-platforms"}, flags, []string{archive})...)
	return err
}

// Join starts the kubelet and kube-proxy and returns when the API server calls the node ready. The kubelet requests a
// certificate for itself, as when a machine joins, and the controller manager approves it.
func (n *Node) Join(ctx context.Context, client kubernetes.Interface) error {
	kubelet := exec.Command(n.config.Binary, "kubelet",
		"--config="+filepath.Join(n.config.Dir, "kubelet.yaml"),
		"--bootstrap-kubeconfig="+n.config.Kubeconfig,
		"--kubeconfig="+filepath.Join(n.config.Dir, "kubelet.kubeconfig"),
		"--root-dir="+filepath.Join(n.config.Dir, "kubelet"),
		"--cert-dir="+filepath.Join(n.config.Dir, "kubelet", "pki"),
		"--hostname-override="+n.config.Name,
		"--node-ip="+IP)
	if err := n.start("kubelet", kubelet); err != nil {
		return err
	}
	proxy := exec.Command(n.config.Binary, "kube-proxy", "--config="+filepath.Join(n.config.Dir, "kube-proxy.yaml"))
	if err := n.start("kube-proxy", proxy); err != nil {
		return err
	}
	err := n.waitFor(ctx, "the node", func(ctx context.Context) error { return n.ready(ctx, client) })
	if err != nil {
		return err
	}
	return n.waitFor(ctx, "kube-proxy", func(ctx context.Context) error { return answers(ctx, "127.0.0.1:10256") })
}

// start starts a process. The sandbox that it runs in stops it.
func (n *Node) start(name string, cmd *exec.Cmd) error {
	_, err := process.Start(cmd, filepath.Join(n.config.Logs, name+".log"), n.died)
	return err
}

func (n *Node) ready(ctx context.Context, client kubernetes.Interface) error {
	node, err := client.CoreV1().Nodes().Get(ctx, n.config.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return errors.New("it has not registered itself")
	}
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
			return fmt.Errorf("%s: %s", condition.Reason, condition.Message)
		}
	}
	if len(node.Spec.Taints) > 0 {
		return fmt.Errorf("it has the taint %s", node.Spec.Taints[0].Key)
	}
	return nil
}

func answers(ctx context.Context, address string) error {
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}

// waitFor repeats check until it returns nil.
func (*Node) waitFor(ctx context.Context, what string, check func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		last = check(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait until %s is ready: %w; last: %w", what, context.Cause(ctx), last)
	}
	return nil
}

// ctr calls containerd's own client.
func (*Node) ctr(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "ctr", append([]string{"--address=" + Socket, "--namespace=" + containerdNamespace}, args...)...)
	var output, errput strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &errput
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("ctr %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errput.String()))
	}
	return output.String(), nil
}

// PID returns the process of a running container, given its ID as a pod's status has it.
func (n *Node) PID(ctx context.Context, containerID string) (int, error) {
	id := strings.TrimPrefix(containerID, "containerd://")
	tasks, err := n.ctr(ctx, "tasks", "list")
	if err != nil {
		return 0, err
	}
	return findTask(tasks, id)
}

// findTask finds the process in what `ctr tasks list` prints.
func findTask(tasks, id string) (int, error) {
	for line := range strings.Lines(tasks) {
		var task, status string
		var pid int
		if _, err := fmt.Sscan(line, &task, &pid, &status); err == nil && task == id {
			if status != "RUNNING" {
				return 0, fmt.Errorf("container %s is %s", id, status)
			}
			return pid, nil
		}
	}
	return 0, fmt.Errorf("container %s has no process", id)
}

// Logs returns the last lines of the newest logs of the pods whose directory matches namespace_pod*.
func (n *Node) Logs(namespace, pod string) string {
	files, err := filepath.Glob(filepath.Join(n.config.Logs, "pods", namespace+"_"+pod+"*", "*", "*.log"))
	if err != nil || len(files) == 0 {
		return ""
	}
	var text strings.Builder
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			continue
		}
		fmt.Fprintf(&text, "%s:\n%s\n", file, process.Tail(file))
	}
	return text.String()
}
