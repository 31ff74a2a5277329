// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs a command in Linux namespaces of its own: processes, mounts, network, IPC.
//
// A node leaves much behind: containers and their shims, overlay mounts, veth pairs, hundreds of iptables rules. In the
// sandbox they all hang on its first process, so the kernel removes them when that one ends, however it ends: also after
// a Ctrl-C, and also when the program that started it is killed. Only control groups and files stay; package cgroup and
// the data directory take care of those.
package sandbox

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"fairlead.dev/fairlead/hack/internal/process"
)

// Command says what runs in the sandbox.
type Command struct {
	// Args are the arguments with which this executable is started again, inside.
	Args []string
	// Env is added to the environment.
	Env []string
	// Shadows are files that stand in for others inside, by the path that they cover: what is written there reaches
	// the stand-in and not the machine.
	Shadows map[string]string
	// HostNetwork leaves the command in the network of the machine.
	HostNetwork bool
	// Started is called with the process that holds the sandbox.
	Started func(pid int)
}

// Run starts this executable again in a new sandbox and waits for its end. When ctx ends, the sandbox is killed with
// everything in it. What it prints goes where this process prints.
func Run(ctx context.Context, command Command) (exitCode int, err error) {
	own, err := os.Executable()
	if err != nil {
		return 0, err
	}
	// The first process dies with unshare, and the kernel kills every other process of the sandbox with it.
	args := []string{"--fork", "--pid", "--kill-child=SIGKILL", "--mount-proc", "--ipc"}
	// What is mounted inside stays there. It is shared among what is in there, since runc asks for that.
	script := []string{"mount --make-rshared /"}
	if !command.HostNetwork {
		args = append(args, "--net")
		// Sockets, network namespaces and locks of a containerd or iptables that the machine may run, too. With the
		// machine's network, the configuration of its name servers may be there.
		script = append(script, "mount -t tmpfs -o nosuid,nodev tmpfs /run")
	}
	for target, standIn := range command.Shadows {
		script = append(script, "mount --bind "+quote(standIn)+" "+quote(target))
	}
	// The shell stays the first process: it waits for orphans too, such as the shims of containerd.
	args = append(args, "--", "sh", "-c", strings.Join(script, " && ")+` && { "$0" "$@" & wait $!; }`, own)
	cmd := exec.Command("unshare", append(args, command.Args...)...)
	cmd.Env = append(os.Environ(), command.Env...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	p, err := process.Start(cmd, "", nil)
	if err != nil {
		return 0, err
	}
	if command.Started != nil {
		command.Started(cmd.Process.Pid)
	}
	err = p.Wait(ctx)
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		return code, nil
	}
	return 0, err
}

// quote makes a path one word of the shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
