// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
)

// Run starts this executable again in a new sandbox and waits for its end. When ctx ends, the sandbox is killed with
// everything in it. What it prints goes where this process prints.
func Run(ctx context.Context, command Command) (exitCode int, err error) {
	description, err := json.Marshal(command)
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", initCommand, string(description))
	cmd.Env = append(os.Environ(), command.Env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		// The kernel kills the sandbox with this process.
		Pdeathsig: syscall.SIGKILL,
		// A Ctrl-C on the terminal reaches this process alone, which then decides.
		Setpgid: true,
	}
	if !command.HostNetwork {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET
	}
	err = runOnOneThread(cmd, command.Started)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return exit.ExitCode(), nil
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if errors.Is(err, syscall.EPERM) {
		return 0, fmt.Errorf("create namespaces: %w (a container needs --privileged for that)", err)
	}
	return 0, err
}

// runOnOneThread starts the child and waits for it on one thread of the operating system, which lasts as long: the
// kernel ties the life of the child to the thread that started it, not to the process.
func runOnOneThread(cmd *exec.Cmd, started func(pid int)) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // Never unlocked: the thread ends with this goroutine.
		if err := cmd.Start(); err != nil {
			done <- err
			return
		}
		if started != nil {
			started(cmd.Process.Pid)
		}
		done <- cmd.Wait()
	}()
	return <-done
}

// Enter takes over if this process is the first one of a sandbox, which it knows by its arguments. main calls it first,
// and ends with the exit code if taken is true.
func Enter(args []string) (exitCode int, taken bool) {
	if len(args) != 3 || args[1] != initCommand {
		return 0, false
	}
	code, err := enter(args[2])
	if err != nil {
		fmt.Fprintf(os.Stderr, "prepare the sandbox: %v\n", err)
		return 1, true
	}
	return code, true
}

func enter(description string) (int, error) {
	var command Command
	if err := json.Unmarshal([]byte(description), &command); err != nil {
		return 0, err
	}
	if os.Getpid() != 1 {
		return 0, errors.New("this is not the first process of a sandbox")
	}
	if err := mountAll(command); err != nil {
		return 0, err
	}
	child, err := os.StartProcess("/proc/self/exe", slices.Concat([]string{os.Args[0]}, command.Args), &os.ProcAttr{
		Env:   os.Environ(),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return 0, err
	}
	return reap(child.Pid)
}

// mountAll makes the mounts that the sandbox sees differently than the machine.
func mountAll(command Command) error {
	type mount struct {
		source, target, fstype string
		flags                  uintptr
	}
	mounts := []mount{
		// What is mounted from now on stays in here. Shared among what is in here, since runc asks for that.
		{"none", "/", "", syscall.MS_REC | syscall.MS_PRIVATE},
		{"none", "/", "", syscall.MS_REC | syscall.MS_SHARED},
		// The processes of this namespace.
		{"proc", "/proc", "proc", syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC},
	}
	if !command.HostNetwork {
		// Sockets, network namespaces and locks of a containerd or iptables that the machine may run, too. With the
		// machine's network, the configuration of its name servers may be there.
		mounts = append(mounts, mount{"tmpfs", "/run", "tmpfs", syscall.MS_NOSUID | syscall.MS_NODEV})
	}
	for _, m := range mounts {
		if err := syscall.Mount(m.source, m.target, m.fstype, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", m.source, m.target, err)
		}
	}
	for target, standIn := range command.Shadows {
		if err := syscall.Mount(standIn, target, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", standIn, target, err)
		}
	}
	return nil
}

// reap waits for the main child and for every orphan that the kernel gives to the first process, such as the shims of
// containerd: unless somebody asks how they ended, they stay as zombies.
func reap(main int) (exitCode int, err error) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for processes: %w", err)
		case pid == main && status.Signaled():
			return 128 + int(status.Signal()), nil
		case pid == main && status.Exited():
			return status.ExitStatus(), nil
		}
	}
}
