// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cgroup makes the control group that the node's pods live in, and removes it with everything below it. Control
// groups are the one thing that namespaces do not take with them.
package cgroup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// mounts is where the kernel tells the mounts of this process.
const mounts = "/proc/self/mountinfo"

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
	file, err := os.Open(mounts)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	found, err := parse(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", mounts, err)
	}
	if len(found) == 0 {
		return nil, errors.New("no control groups are mounted at /sys/fs/cgroup")
	}
	return found, nil
}

// parse finds the hierarchies in a mountinfo, see proc(5).
func parse(mountinfo io.Reader) ([]string, error) {
	var found []string
	scanner := bufio.NewScanner(mountinfo)
	for scanner.Scan() {
		before, after, separated := strings.Cut(scanner.Text(), " - ")
		fields, filesystem := strings.Fields(before), strings.Fields(after)
		if !separated || len(fields) < 5 || len(filesystem) == 0 {
			return nil, fmt.Errorf("%q is not a mount", scanner.Text())
		}
		if path := fields[4]; strings.HasPrefix(path, "/sys/fs/cgroup") && (filesystem[0] == "cgroup" || filesystem[0] == "cgroup2") {
			found = append(found, path)
		}
	}
	return found, scanner.Err()
}
