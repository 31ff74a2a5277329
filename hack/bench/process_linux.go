// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "syscall"

// childAttributes put the child into a process group of its own, so that a Ctrl-C reaches this process alone, which then
// stops its children in order. If it is killed, the kernel kills them.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
