// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// workspace is the directory of one run: the cluster's data, the kubeconfig and the logs. It is not in the source tree,
// so that several demos can run side by side, and because the path of a unix socket in it must be short.
type workspace struct {
	dir string
}

func newWorkspace() (*workspace, error) {
	dir, err := os.MkdirTemp("", "fairlead-demo-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the demo (set TMPDIR to choose where): %w", err)
	}
	w := &workspace{dir: dir}
	return w, os.Mkdir(w.logs(), 0o700)
}

func (w *workspace) logs() string           { return filepath.Join(w.dir, "logs") }
func (w *workspace) log(name string) string { return filepath.Join(w.logs(), name+".log") }
func (w *workspace) cluster() string        { return filepath.Join(w.dir, "cluster") }
func (w *workspace) kubeconfig() string     { return filepath.Join(w.dir, "kubeconfig") }

// close removes everything, except the logs if they are to be kept: then only they, and those of the control plane.
func (w *workspace) close(keepLogs bool) error {
	if !keepLogs {
		return os.RemoveAll(w.dir)
	}
	err := os.Rename(filepath.Join(w.cluster(), "logs"), filepath.Join(w.logs(), "cluster"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil // There was no cluster yet, or it is not ours.
	}
	return errors.Join(err, os.RemoveAll(w.cluster()), os.RemoveAll(w.kubeconfig()))
}
