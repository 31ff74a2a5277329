// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandbox runs a command in Linux namespaces of its own: processes, mounts, network, IPC.
//
// A node leaves much behind: containers and their shims, overlay mounts, veth pairs, hundreds of iptables rules. Nobody
// should have to hunt them down. In the sandbox they all hang on its first process, so the kernel removes them when that
// one ends, however it ends: also after a Ctrl-C, and also when whoever started it is killed. Only control groups and
// files stay; package cgroup and the data directory take care of those.
package sandbox

// initCommand is the first argument of this executable when it is the first process of a sandbox.
const initCommand = "@sandbox-init"

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
	// Started is called with the first process of the sandbox, as the machine knows it.
	Started func(pid int) `json:"-"`
}
