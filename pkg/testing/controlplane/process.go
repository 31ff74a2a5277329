// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	binaryEnv = "FAIRLEAD_CLUSTER_BIN"
	// keepDataEnv keeps etcd's data and the components' logs after the tests, for inspection.
	keepDataEnv = "FAIRLEAD_CLUSTER_KEEP_DATA"

	readyPeriod = 20 * time.Millisecond
	// stopTimeout is longer than fairlead-cluster needs to stop its components and, if necessary, kill them.
	stopTimeout = 30 * time.Second
)

// process is a running `fairlead-cluster up`.
type process struct {
	info    clusterInfo
	dir     string // the data directory
	cmd     *exec.Cmd
	stdin   io.Closer // closing it stops the cluster; the kernel does that if this process dies
	output  *bytes.Buffer
	exited  chan struct{} // closed when the process has ended; then output and waitErr are complete
	waitErr error
}

// clusterInfo is the content of cluster.json, which fairlead-cluster writes.
type clusterInfo struct {
	PID           int               `json:"pid"`
	Kubeconfig    string            `json:"kubeconfig"`
	ControlSocket string            `json:"controlSocket"`
	AuditLog      string            `json:"auditLog"`
	Components    []componentStatus `json:"components"`
}

// startProcess starts the cluster, and returns when it is ready.
func startProcess(ctx context.Context, o *options) (_ *process, err error) {
	binary, err := findBinary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fairlead-") // Short: it holds a unix socket, whose path is limited.
	if err != nil {
		return nil, err
	}
	args := append([]string{"up", "--stop-on-stdin-eof", "--data-dir=" + dir}, o.arguments()...)
	if os.Getenv(keepDataEnv) == "" {
		args = append(args, "--remove-data-dir")
	} else {
		fmt.Fprintf(os.Stderr, "%s is set: the control plane keeps its data and logs in %s\n", keepDataEnv, dir)
	}

	p := &process{dir: dir, output: &bytes.Buffer{}, exited: make(chan struct{})}
	p.cmd = &exec.Cmd{ // No context: ctx bounds the start, not the life.
		Path: binary,
		Args: append([]string{binary}, args...),
		// Not the test's own output: `go test` waits until every process that has it open has ended.
		Stdout: p.output,
		Stderr: p.output,
		// In its own process group, so that Ctrl-C at `go test` reaches only the tests. The cluster ends with them.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	go func() {
		p.waitErr = p.cmd.Wait()
		close(p.exited)
	}()
	if err := p.waitReady(ctx, filepath.Join(dir, "admin.kubeconfig")); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, p.readInfo(filepath.Join(dir, "cluster.json"))
}

// findBinary finds the executable that `make cluster` builds.
func findBinary() (string, error) {
	if binary := os.Getenv(binaryEnv); binary != "" {
		if _, err := os.Stat(binary); err != nil {
			return "", fmt.Errorf("%s: %w", binaryEnv, err)
		}
		return binary, nil
	}
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		binary := filepath.Join(dir, "bin", "fairlead-cluster")
		if _, err := os.Stat(binary); err == nil {
			return binary, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("bin/fairlead-cluster is neither in %s nor above: run `make cluster` first (it compiles Kubernetes, "+
				"minutes the first time), or name the executable in %s", start, binaryEnv)
		}
	}
}

// waitReady waits for the kubeconfig, which appears when everything works.
func (p *process) waitReady(ctx context.Context, kubeconfig string) error {
	err := wait.PollUntilContextCancel(ctx, readyPeriod, true, func(context.Context) (bool, error) {
		select {
		case <-p.exited:
			return false, p.failure()
		default:
		}
		_, err := os.Stat(kubeconfig)
		if errors.Is(err, os.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (p *process) readInfo(file string) error {
	content, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(content, &p.info)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("read the description of the cluster: %w", err), p.stop())
	}
	return nil
}

// stop asks the cluster to end, and waits for that. It returns an error if the cluster had ended before, or failed.
func (p *process) stop() error {
	_ = p.stdin.Close()
	select {
	case <-p.exited:
	case <-time.After(stopTimeout):
		// Its components end with it; their data stays.
		_ = p.cmd.Process.Kill()
		<-p.exited
	}
	if p.waitErr != nil {
		return p.failure()
	}
	return nil
}

// failure describes how the process ended. Call it only after exited is closed.
func (p *process) failure() error {
	return fmt.Errorf("fairlead-cluster ended (%s) with this output:\n%s", p.cmd.ProcessState, strings.TrimSpace(p.output.String()))
}
