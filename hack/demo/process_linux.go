// Copyright The Fairlead Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "syscall"

// childAttributes put the child into a process group of its own, so that a Ctrl-C on the terminal reaches the demo alone,
// which then stops its children in order. If the demo is killed, the kernel asks the child to end.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
