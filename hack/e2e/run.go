// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"fairlead.dev/fairlead/hack/e2e/internal/cgroup"
	"fairlead.dev/fairlead/hack/e2e/internal/sandbox"
	"fairlead.dev/fairlead/hack/internal/steps"
)

// cgroupName is the control group of everything that the node runs.
const cgroupName = "fairlead-e2e"

// errPrinted is the end of a test that has printed its failure.
var errPrinted = errors.New("the test failed")

// runAll prepares the machine, runs the stages in their sandboxes, and leaves nothing behind.
func runAll(ctx context.Context, o options, out *steps.Printer) (err error) {
	began := time.Now()
	if lacking := preflight(o); len(lacking) > 0 {
		return lacking
	}
	// Not by the directory, since runs in several of them would share the control group.
	unlock, err := lock(filepath.Join(os.TempDir(), cgroupName))
	if err != nil {
		return err
	}
	defer unlock()
	if err := cleanUp(ctx, o); err != nil {
		return fmt.Errorf("remove what an earlier run left: %w", err)
	}
	for _, directory := range []string{o.logs(), o.images(), o.node(), o.cluster(), filepath.Join(o.logs(), "control-plane")} {
		if err := os.MkdirAll(directory, 0o700); err != nil {
			return err
		}
	}
	// The logs of all in one place.
	if err := os.Symlink(filepath.Join(o.logs(), "control-plane"), filepath.Join(o.cluster(), "logs")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave(ctx, o, out, err, began)) }()
	if err := cgroup.Create(cgroupName); err != nil {
		return err
	}
	shadows, err := shadowSysctls(filepath.Join(o.dir, "sysctl"))
	if err != nil {
		return err
	}
	for _, command := range []sandbox.Command{
		{Args: o.args(stageImages), HostNetwork: true},
		// Nothing can be fetched in there; an attempt should say so at once.
		{Args: o.args(stageStory), Env: []string{"KUBECONFIG=" + o.kubeconfig(), "GOPROXY=off"}, Shadows: shadows, Started: func(pid int) {
			out.Note("To look inside: nsenter --target=%d --mount --net env KUBECONFIG=%s kubectl get pods -A", pid, o.kubeconfig())
		}},
	} {
		code, err := sandbox.Run(ctx, command)
		if err != nil {
			return err
		}
		if code != 0 {
			return errPrinted
		}
	}
	return nil
}

// leave removes what namespaces do not take with them, and prints how it ended.
func leave(ctx context.Context, o options, out *steps.Printer, failed error, began time.Time) error {
	keepLogs := o.keep || failed != nil && ctx.Err() == nil
	ctx = context.WithoutCancel(ctx) // This must be done all the same.
	err := cgroup.Remove(ctx, cgroupName)
	if keepLogs {
		for _, directory := range []string{o.images(), o.node(), o.cluster(), filepath.Join(o.dir, "sysctl"), o.kubeconfig()} {
			err = errors.Join(err, os.RemoveAll(directory))
		}
		out.Note("Logs: %s", o.logs())
	} else {
		err = errors.Join(err, os.RemoveAll(o.dir))
	}
	if err == nil {
		out.Note("Everything that it started has ended, and what it made is removed. %s in all.", steps.Since(began))
	}
	return err
}

// cleanUp removes what a run left that was killed. Its processes, mounts and network are gone: they ended with it.
func cleanUp(ctx context.Context, o options) error {
	return errors.Join(cgroup.Remove(ctx, cgroupName), os.RemoveAll(o.dir))
}

// lock makes sure that only one test runs at a time with this name.
func lock(name string) (unlock func(), err error) {
	file, err := os.OpenFile(name+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	// The kernel gives the lock back when the process ends, however it ends.
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, fmt.Errorf("another run has %s: %w", file.Name(), err)
	}
	return func() {
		_ = os.Remove(file.Name())
		file.Close()
	}, nil
}
