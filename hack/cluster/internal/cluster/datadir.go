// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/hack/cluster/internal/atomicfile"
	"fairlead.dev/fairlead/hack/cluster/internal/pki"
)

// dataDir is the directory of one cluster, held by one process at a time.
type dataDir struct {
	path   string
	remove bool
	lock   *os.File
}

// openDataDir creates the directory if need be and locks it. An empty path means a new one that is removed at the end.
func openDataDir(path string, remove bool) (*dataDir, error) {
	d := &dataDir{path: path, remove: remove || path == ""}
	var err error
	if path == "" {
		d.path, err = os.MkdirTemp("", "fairlead-cluster-")
	} else {
		err = os.MkdirAll(d.path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("--data-dir: %w", err)
	}
	if remove {
		// What this run did not put there is not its to remove.
		if entries, err := os.ReadDir(d.path); err != nil || len(entries) > 0 {
			return nil, errors.Join(fmt.Errorf("--remove-data-dir: %s is not an empty directory; empty it, or choose another one", d.path), err)
		}
	}
	d.lock, err = os.OpenFile(filepath.Join(d.path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--data-dir: %w", err)
	}
	// The kernel gives the lock back when the process ends, however it ends.
	if err := syscall.Flock(int(d.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = d.lock.Close()
		return nil, fmt.Errorf("--data-dir: %s is in use by another fairlead-cluster; stop that one or choose another directory (%w)", d.path, err)
	}
	return d, nil
}

// close unlocks the directory, and removes it unless keep is set.
func (d *dataDir) close(keep bool) error {
	defer func() { _ = d.lock.Close() }()
	if !d.remove || keep {
		return nil
	}
	return os.RemoveAll(d.path)
}

// clusterInfo is cluster.json: where to find everything of a running cluster.
type clusterInfo struct {
	PID           int               `json:"pid"`
	Server        string            `json:"server"`
	Kubeconfig    string            `json:"kubeconfig"`
	ControlSocket string            `json:"controlSocket"`
	AuditLog      string            `json:"auditLog,omitempty"`
	Components    []componentStatus `json:"components"`
}

// publish writes cluster.json and then the kubeconfig, whose presence says that everything is ready.
func (c *cluster) publish() error {
	info := clusterInfo{
		PID:           os.Getpid(),
		Server:        c.component(KubeAPIServer).url,
		Kubeconfig:    c.options.Kubeconfig,
		ControlSocket: c.options.controlSocket(),
		AuditLog:      c.options.AuditLog,
	}
	for _, component := range c.components {
		info.Components = append(info.Components, component.status())
	}
	content, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(c.options.DataDir, "cluster.json"), content); err != nil {
		return err
	}
	return atomicfile.Write(c.options.Kubeconfig, c.kubeconfig)
}

// removeKubeconfig takes away a kubeconfig of ours: at the start because it would announce a cluster that is not ready,
// at the end because there is none any more. The file of another program is an error: it is not ours to overwrite.
func removeKubeconfig(file string) error {
	config, err := clientcmd.LoadFromFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || config.CurrentContext != pki.ClusterName || len(config.Contexts) != 1 {
		return fmt.Errorf("--kubeconfig: %s exists and was not written by fairlead-cluster; choose another file", file)
	}
	return os.Remove(file)
}
