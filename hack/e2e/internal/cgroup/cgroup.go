// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup makes the control group that the node's pods live in, and removes it with everything below it. Control
// groups are the one thing that namespaces do not take with them.
package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"k8s.io/apimachinery/pkg/util/wait"
)

// root is where control groups are mounted. Others may be mounted for containers.
const root = "/sys/fs/cgroup"

// Create makes the group in every hierarchy.
func Create(name string) error {
	found, err := hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range found {
		if err := create(filepath.Join(hierarchy, name)); err != nil {
			return fmt.Errorf("create control group %s: %w", name, err)
		}
	}
	return nil
}

func create(group string) error {
	if err := os.MkdirAll(group, 0o755); err != nil {
		return err
	}
	// With version 1, a new cpuset is empty, and no process may enter it before it has processors and memory.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		own := filepath.Join(group, file)
		content, err := os.ReadFile(own)
		if errors.Is(err, fs.ErrNotExist) || err == nil && strings.TrimSpace(string(content)) != "" {
			continue
		}
		if err != nil {
			return err
		}
		parent, err := os.ReadFile(filepath.Join(filepath.Dir(group), file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // The root of version 2 has no such file, and needs none.
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(own, parent, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the group and everything below it, if it exists, from every hierarchy. Processes in it must be about to
// end: the kernel refuses until the last one has.
func Remove(ctx context.Context, name string) error {
	found, err := hierarchies()
	if err != nil {
		return err
	}
	for _, hierarchy := range found {
		group := filepath.Join(hierarchy, name)
		var last error
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
			last = remove(group)
			return last == nil, nil
		})
		if err != nil {
			return fmt.Errorf("remove control group %s: %w", group, errors.Join(last, err))
		}
	}
	return nil
}

// remove removes the directories from the leaves up. The files in them are no files: they go with their directory.
func remove(group string) error {
	var groups []string
	err := filepath.WalkDir(group, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			groups = append(groups, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Backward(groups) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// hierarchies are the roots of the mounted trees of control groups: one of several with version 1, or the only one of
// version 2.
func hierarchies() ([]string, error) {
	mounts, err := procfs.GetMounts()
	if err != nil {
		return nil, fmt.Errorf("read the mounts of this process: %w", err)
	}
	var found []string
	for _, mount := range mounts {
		if strings.HasPrefix(mount.MountPoint, root) && (mount.FSType == "cgroup" || mount.FSType == "cgroup2") {
			found = append(found, mount.MountPoint)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no control groups are mounted at %s", root)
	}
	return found, nil
}
